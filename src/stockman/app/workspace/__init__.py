"""Workspace."""
