"""Files that a Talos machine of the nocloud platform reads at its first boot.

Three texts: `user-data` is the machine configuration, `meta-data` identifies the machine, and
`network-config` sets up its network until it has a configuration. Proxmox can generate the last two
from keys of the VM; settings without such a key go into an ISO image.
"""
