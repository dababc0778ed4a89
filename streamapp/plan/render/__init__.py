"""A plan as people and programs read it: one module or room for each form, and the wording that all forms share."""
