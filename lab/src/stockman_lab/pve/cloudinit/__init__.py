"""Cloud-init as Proxmox VE does it: texts made of the keys of a VM, and the drive that holds them.

Keys, their hashing and what `cloudinit` says is pending are as they are in Proxmox VE, its oddities
included: `dump` shows generated texts even where `cicustom` replaces them.
"""
