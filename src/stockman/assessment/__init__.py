"""Status, drift, adoption and the checks of `doctor`: compare desired with observed state."""
