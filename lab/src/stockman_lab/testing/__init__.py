"""The lab in tests of others: a Proxmox VE for the length of one test."""
