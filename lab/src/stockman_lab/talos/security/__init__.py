"""Certificates of Talos machines, and who is behind those of their callers."""
