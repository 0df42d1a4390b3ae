"""Configurations of guests: what a change does at once, what waits, and who may make it."""
