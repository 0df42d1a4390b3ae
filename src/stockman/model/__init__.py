"""Records, names, versions, secrets and problems: what every other part speaks in."""
