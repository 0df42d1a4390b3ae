"""Observe a cluster for its status."""
