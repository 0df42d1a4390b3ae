"""Storages at work: their configuration, their volumes, files that come and go, and locks."""
