"""High availability: what is to run, where it may, and what is done about it."""
