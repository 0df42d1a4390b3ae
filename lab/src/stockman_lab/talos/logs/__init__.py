"""Logs of machines: what was noted down, after a believable beginning."""
