"""Forming tasks: the groupers, their fixed-tasks form, and what they need to know."""
