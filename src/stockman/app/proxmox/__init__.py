"""Connections and credentials for Proxmox VE."""
