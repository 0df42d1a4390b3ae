"""Real programs for the tests: built or found by name, at a pinned version.

Part of the repository, not of the package that users install.
"""
