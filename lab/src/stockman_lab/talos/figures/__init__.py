"""Figures of machines: plausible, the same for the same machine at the same moment.

Nothing here throws dice or changes anything. What belongs to a machine (its processor, how busy
each of its programs is, addresses of its hardware) is a constant made from its identity; what
moves is a function of the clock and of what runs.
"""
