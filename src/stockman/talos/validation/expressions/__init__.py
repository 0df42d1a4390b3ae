"""Expressions in the language CEL, by which Talos selects disks, volumes and links.

They are parsed and their types are checked, as Talos does before it takes a configuration; nothing
is ever evaluated here.
"""
