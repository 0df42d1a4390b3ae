"""Talos as text: secrets bundle, client credentials, image schematics. Nothing is dialled."""
