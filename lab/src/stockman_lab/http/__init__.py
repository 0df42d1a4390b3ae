"""HTTP/1.1 as the API server of Proxmox VE speaks it: its limits, its headers, its refusals."""
