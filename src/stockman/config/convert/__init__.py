"""Conversion between the dialects, and from files of other tools."""
