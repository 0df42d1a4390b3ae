"""Doors into the world: what real clients connect to, and how time goes on meanwhile."""
