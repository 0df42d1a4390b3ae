"""Patches of machine configurations, merged exactly as Talos merges them.

Talos merges typed values, not text: whether a zero value overwrites, a list is appended or
replaced, and which list items are merged depends on the type of the field. The files in `types/`
hold these facts for each minor, generated from Talos' own library.
"""
