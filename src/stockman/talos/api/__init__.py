"""Calls of the Talos API: what each method of the port asks for, and what answers mean."""
