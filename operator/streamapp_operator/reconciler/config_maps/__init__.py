"""The ConfigMaps that carry messages between operator and driver, and those that hold the operator's memory.

Job model, report, accepted generations and locality. Pure; imports `objects` and `pods` only.
"""
