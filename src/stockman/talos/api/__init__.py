"""Calls of the Talos API, and what their answers mean."""
