"""Adapters: transports to real systems, files and programs."""
