"""The language: every key a user may write, with its type, default and meaning."""
