"""Client config."""
