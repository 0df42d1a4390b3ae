"""Access control of Proxmox VE: who may do what, and where."""
