"""The plan of each stage, made from the desired and the observed state."""
