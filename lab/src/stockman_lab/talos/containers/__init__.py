"""Containers as the API of a machine finds them."""
