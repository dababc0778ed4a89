"""The loop: what there is to read, the orders of a batch, its results, retries and lost processors.

Tells listeners what happens; never imports who listens.
"""
