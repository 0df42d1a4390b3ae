"""Bootstrap."""
