"""The optimal assignment of tasks to processors, standbys, and what a change of it moves."""
