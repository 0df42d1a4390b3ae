"""Requests to the API server, and its answers."""
