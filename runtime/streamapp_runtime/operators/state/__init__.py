"""The lane as an executor sees it.

Stores as typed rows, the changelog of a batch, the event clock, look-ups in remote tables. Imports rows and
stores; no room of a kind.
"""
