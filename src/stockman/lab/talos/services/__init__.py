"""Services of a machine."""
