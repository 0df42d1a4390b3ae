"""Demo of stockman on simulated hosts: `python -m demo`."""
