"""The common part of `run` and `drive`: a run to its end, its exit, and its messages on a terminal."""
