"""Drift: what differs from the files, who did it as far as anybody tells, and what corrects it."""
