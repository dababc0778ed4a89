"""The ConfigMaps by which operator and driver speak and in which the operator remembers.

Job model, report, accepted generations, locality. Pure; imports `objects` and `pods` only.
"""
