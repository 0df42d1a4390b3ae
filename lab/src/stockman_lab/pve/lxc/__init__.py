"""Containers: their volumes, their power, their making and their end."""
