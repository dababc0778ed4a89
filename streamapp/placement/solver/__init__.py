"""The optimal assignment over classes of tasks.

It knows locations as texts only and imports nothing else of placement.
"""
