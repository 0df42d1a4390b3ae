"""Secrets."""
