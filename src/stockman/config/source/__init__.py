"""Readers that parse text into a tree in which every value has a position."""
