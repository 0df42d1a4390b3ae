"""Machine config."""
