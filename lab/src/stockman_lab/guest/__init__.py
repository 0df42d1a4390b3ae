"""What runs inside virtual machines: it sees disks, cards and firmware, and has an agent.

What boots is decided by the bytes of a disk, never by names.
"""
