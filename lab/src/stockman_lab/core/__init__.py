"""What every part of the simulated world stands on: time, dice, faults, saved state."""
