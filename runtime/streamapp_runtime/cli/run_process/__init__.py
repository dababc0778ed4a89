"""What `run` and `drive` share: a run to its end, its exit, and its messages on a terminal."""
