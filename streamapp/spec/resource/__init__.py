"""The resource's models as users write them, with their marks, allowed keys and the effect of a change.

No parsing of texts and no checks across lists.
"""
