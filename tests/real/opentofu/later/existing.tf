# Guests that somebody else made.

resource "proxmox_virtual_environment_vm" "found" {
  node_name     = "pve2"
  vm_id         = 350
  name          = "found"
  description   = "made by hand"
  tags          = ["old"]
  scsi_hardware = "virtio-scsi-single"

  cpu {
    cores = 2
    type  = "host"
  }

  memory {
    dedicated = 1024
  }

  disk {
    interface    = "scsi0"
    datastore_id = "thin"
    size         = 4
    file_format  = "raw"
  }

  network_device {
    bridge      = "vmbr0"
    mac_address = "BC:24:11:00:03:50"
    vlan_id     = 5
  }

  operating_system {
    type = "l26"
  }
}

resource "proxmox_virtual_environment_container" "found" {
  node_name    = "pve3"
  vm_id        = 450
  description  = "made by hand"
  unprivileged = true
  tags         = ["old"]

  initialization {
    hostname = "found"

    ip_config {
      ipv4 {
        address = "10.66.5.91/24"
        gateway = "10.66.5.1"
      }
    }
  }

  cpu {
    cores = 1
  }

  memory {
    dedicated = 256
  }

  disk {
    datastore_id = "local-zfs"
    size         = 2
  }

  network_interface {
    name        = "eth0"
    bridge      = "vmbr0"
    mac_address = "BC:24:11:00:04:50"
  }

  operating_system {
    template_file_id = "local:vztmpl/${var.template}"
    type             = "debian"
  }

  lifecycle {
    # Nothing in the configuration of a container says what it was made from.
    ignore_changes = [operating_system[0].template_file_id]
  }
}

variable "template" {
  type = string
}
