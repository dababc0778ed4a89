"""The owners of partitions: groupers, expansion, and the layout that is kept with the state.

Partition and refusal, at its root, are shared by all rules.
"""
