"""Describe a running cluster as configuration files."""
