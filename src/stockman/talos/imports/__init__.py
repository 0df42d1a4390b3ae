"""Directories of other tools for Talos, read and understood: talhelper and topf."""
