"""stockman: the whole life of a Talos Linux Kubernetes cluster on Proxmox VE."""

__version__ = "0.1.0"
