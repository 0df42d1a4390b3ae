"""Formats, machine configurations and API calls of Talos; connections belong to the adapters."""
