"""Forming tasks: the groupers, their fixed-tasks form, and their request."""
