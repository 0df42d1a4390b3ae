"""A run through stockman on this machine alone: `python -m demo`."""
