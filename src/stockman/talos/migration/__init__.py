"""Migration of machine configurations from an older contract to a newer one.

A contract is the style of a configuration. Talos reads older styles too, so that a migration is a
step of its own and not part of an upgrade. It is a list of edits, each with its reason.
"""
