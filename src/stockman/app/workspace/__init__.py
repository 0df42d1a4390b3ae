"""The user's directory: its files, desired state, patches and validation."""
