"""Tables that side inputs fill: the validity of their stores, resume positions, and the bootstrap gate.

Pure rules.
"""
