"""A cluster that runs becomes files: looked at, matched, described, and compared with a plan."""
