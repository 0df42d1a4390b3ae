"""Conversion between the dialects, and from files of other tools. Text to text, nothing resolved."""
