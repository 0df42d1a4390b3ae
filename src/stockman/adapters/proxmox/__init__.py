"""Proxmox."""
