# A Talos machine as people make it with OpenTofu: no tags, no description, no word of stockman.

terraform {
  required_providers {
    proxmox = {
      source = "bpg/proxmox"
    }
  }
}

provider "proxmox" {}

resource "proxmox_virtual_environment_vm" "controller" {
  node_name     = "pve"
  vm_id         = 700
  name          = "cp-1"
  machine       = "q35"
  bios          = "ovmf"
  scsi_hardware = "virtio-scsi-pci"

  agent {
    enabled = false
  }

  cpu {
    cores = 4
    type  = "host"
  }

  memory {
    dedicated = 8192
  }

  efi_disk {
    datastore_id = "local-lvm"
    type         = "4m"
  }

  disk {
    interface    = "scsi0"
    datastore_id = "local-lvm"
    import_from  = "local:import/talos.qcow2"
    size         = 40
    discard      = "on"
  }

  network_device {
    bridge = "vmbr0"
  }

  initialization {
    datastore_id = "local-lvm"

    ip_config {
      ipv4 {
        address = "127.84.0.11/16"
        gateway = "127.84.0.1"
      }
    }
  }

  operating_system {
    type = "l26"
  }

  serial_device {}
}

resource "proxmox_virtual_environment_vm" "other" {
  node_name = "pve"
  vm_id     = 710
  name      = "other"
  started   = false

  disk {
    interface    = "scsi0"
    datastore_id = "local-lvm"
    size         = 4
  }
}
