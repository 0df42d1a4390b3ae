"""Adoption."""
