"""Simulated machines that run Talos Linux."""
