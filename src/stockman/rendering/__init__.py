"""Render the files of a repository from the desired state. Pure."""
