"""What stockman needs from other systems, in its own words; adapters are the real doors."""
