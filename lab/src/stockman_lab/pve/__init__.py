"""A simulated Proxmox VE: its state, its rules and its API."""
