"""Real programs for tests, by name, built at pinned versions.

Part of the repository, not of the installed packages.
"""
