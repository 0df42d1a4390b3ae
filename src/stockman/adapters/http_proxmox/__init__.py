"""`ports.Proxmox` over HTTPS."""
