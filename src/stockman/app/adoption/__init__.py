"""Adopt a running cluster: observe it, describe it as files and preview their first plan."""
