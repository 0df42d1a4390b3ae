"""A simulated Proxmox VE with Talos machines and Kubernetes that real clients accept."""

__version__ = "0.1.0"
