"""Checks of rendered files that need no other program."""
