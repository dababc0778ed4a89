"""Generated from the models: the CustomResourceDefinition, its CEL rules, the reference page.

Nothing that runs imports it.
"""
