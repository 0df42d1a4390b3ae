"""Functions that answer requests; each module registers its own when it is imported."""
