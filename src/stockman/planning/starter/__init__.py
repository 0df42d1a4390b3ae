"""The first files of a cluster, made for the Proxmox hosts that are really there (pure)."""
