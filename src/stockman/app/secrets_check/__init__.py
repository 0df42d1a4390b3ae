"""Check that secrets are encrypted, for the right recipients, and not leaked."""
