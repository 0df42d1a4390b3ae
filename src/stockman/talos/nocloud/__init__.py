"""What a Talos machine of the nocloud platform reads at its first boot.

Three texts: `user-data` is the machine configuration, `meta-data` says which machine it is, and
`network-config` how it is reached before it has a configuration. Proxmox can make the last two from
keys of the VM; what it has no keys for goes into an ISO image.
"""
