"""Observed."""
