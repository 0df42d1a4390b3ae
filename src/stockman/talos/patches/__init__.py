"""Patches of machine configurations, merged as Talos itself merges them.

Talos merges typed values, not text: whether a zero overwrites, a list grows or is replaced, and by
what two items are one depends on the type of the field. The tables in `types/` hold those facts for
each minor, as Talos' own library tells them.
"""
