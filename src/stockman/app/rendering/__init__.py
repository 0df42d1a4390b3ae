"""Render a workspace and write the files."""
