"""Readers: text becomes a tree in which every value knows its place."""
