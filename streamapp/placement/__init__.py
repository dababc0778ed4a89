"""Who runs where: locations, the optimal assignment, standby copies, and what a change of it moves."""
