"""The API of Proxmox VE without a wire: what is called, how answers are read, what a no means."""
