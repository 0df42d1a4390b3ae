"""What a server tells of itself: its kinds, its version, and how it is."""
