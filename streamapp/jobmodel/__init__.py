"""The versioned map of which task owns what and which processor runs it, its rules.

Its content hash and its stored form.
"""
