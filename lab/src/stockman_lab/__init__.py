"""The lab: a simulated Proxmox VE that real clients believe, to rehearse and to test on."""
