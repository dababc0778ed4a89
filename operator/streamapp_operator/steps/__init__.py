"""The steps of a reconcile: pure functions from facts, and from what earlier steps found, to findings."""
