"""A plan as people and programs read it: a module or room for each form, and the wording they share."""
