"""As much of a shell as clients of Proxmox VE need."""
