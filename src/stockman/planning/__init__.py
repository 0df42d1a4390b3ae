"""Desired state x observed state -> changes -> steps. Pure: nothing in here makes a call."""
