"""Compare desired with observed state and report drift, its author and its correction."""
