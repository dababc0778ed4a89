"""Apps that benches run: their resources, their data, a process for each run, and what the run cost."""
