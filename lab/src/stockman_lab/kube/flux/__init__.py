"""Flux in a cluster of the lab: sources, and what is applied from them."""
