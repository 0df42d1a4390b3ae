"""The configuration language: every key, with its type, default and documentation."""
