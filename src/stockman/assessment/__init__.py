"""Status, drift and adoption: compare desired with observed state, and report."""
