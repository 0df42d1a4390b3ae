"""Programs that can be run on a host."""
