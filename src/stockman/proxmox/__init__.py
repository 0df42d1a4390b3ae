"""The API of Proxmox VE: records, calls, errors, and the client over a transport."""
