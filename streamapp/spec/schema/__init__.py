"""Generated from the models: CustomResourceDefinition, CEL rules, reference page, editor schema.

Nothing that runs imports it.
"""
