"""Assess the health of a cluster from one observation, with a fix for every problem."""
