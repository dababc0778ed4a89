"""What a reconcile knows before it decides: gathered at once, then never looked up again."""
