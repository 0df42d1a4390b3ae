# The machines of the preset three-node as somebody would write them for OpenTofu.

terraform {
  required_providers {
    proxmox = {
      source = "bpg/proxmox"
    }
  }
}

provider "proxmox" {}

variable "machines" {
  type = map(object({
    host        = string
    vmid        = number
    address     = string
    mac         = string
    uuid        = string
    description = string
  }))
  description = "By name."
}

variable "gateway" {
  type = string
}

variable "memory" {
  type    = number
  default = 16384
}

variable "rules" {
  type        = bool
  description = "Whether high availability knows rules instead of groups."
}

resource "proxmox_virtual_environment_vm" "machine" {
  for_each = var.machines

  node_name     = each.value.host
  vm_id         = each.value.vmid
  name          = each.key
  description   = each.value.description
  tags          = ["stockman", "stockman-k8s"]
  machine       = "q35"
  bios          = "ovmf"
  boot_order    = ["scsi0", "ide2"]
  on_boot       = true
  scsi_hardware = "virtio-scsi-pci"

  agent {
    enabled = false
  }

  cpu {
    cores   = 8
    sockets = 1
    type    = "host"
  }

  memory {
    dedicated = var.memory
  }

  vga {
    type = "std"
  }

  serial_device {}

  smbios {
    uuid   = each.value.uuid
    serial = "h=${each.key};i=${each.value.uuid}"
  }

  efi_disk {
    datastore_id      = "ceph-vm-disks"
    file_format       = "raw"
    type              = "4m"
    pre_enrolled_keys = false
  }

  disk {
    interface    = "scsi0"
    datastore_id = "ceph-vm-disks"
    file_format  = "raw"
    size         = 100
    discard      = "on"
    ssd          = true
  }

  network_device {
    bridge      = "vmbr0"
    mac_address = each.value.mac
    vlan_id     = 3
  }

  # Without a storage there is no drive of cloud-init: ide2 had the first configuration.
  initialization {
    type         = "nocloud"
    datastore_id = ""

    dns {
      servers = ["1.1.1.1", "1.0.0.1"]
    }

    ip_config {
      ipv4 {
        address = each.value.address
        gateway = var.gateway
      }
    }
  }

  operating_system {
    type = "l26"
  }
}

resource "proxmox_haresource" "machine" {
  for_each = var.machines

  resource_id  = "vm:${each.value.vmid}"
  state        = "started"
  group        = var.rules ? null : "ceph_workloads"
  max_restart  = 3
  max_relocate = 2
}
