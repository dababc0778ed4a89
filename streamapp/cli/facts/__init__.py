"""What verbs find out of an app before they answer: counts, live facts, its code, a plan from options.

It imports no verb.
"""
