"""Texts of Proxmox VE: property strings, drives, cards, volumes, tasks. Read and written alike."""
