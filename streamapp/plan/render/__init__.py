"""The forms of a rendered plan: a module or room for each form, and their common wording."""
