"""The facts of an app that verbs need for an answer: counts, live facts, its code, a plan from options.

The package imports no verb.
"""
