"""One function for each kind: what a machine has of it, by id."""
