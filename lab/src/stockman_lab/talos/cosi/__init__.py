"""Resources of Talos machines: what they are, computed from machines, and who follows them."""
