"""Plan, apply, destroy and inspect runs."""
