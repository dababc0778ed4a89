"""What the engine costs: whole apps as they run, over everything that they start."""
