"""The layout that is kept with the state: its value, its written form, its conflicts and merges.

It imports neither groupers nor expansion.
"""
