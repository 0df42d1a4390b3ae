resource "proxmox_virtual_environment_vm" "alone" {
  node_name   = "pve1"
  vm_id       = 300
  name        = var.machine_name
  description = var.note
  tags        = ["lab", "one"]
  pool_id     = proxmox_virtual_environment_pool.farm.pool_id
  machine     = "q35"
  bios        = "ovmf"

  agent {
    enabled = true
  }

  cpu {
    cores = 2
    type  = "host"
  }

  memory {
    dedicated = var.memory
  }

  efi_disk {
    datastore_id = "local-zfs"
    type         = "4m"
  }

  tpm_state {
    datastore_id = "local-zfs"
    version      = "v2.0"
  }

  scsi_hardware = "virtio-scsi-single"

  disk {
    interface    = "scsi0"
    datastore_id = proxmox_storage_zfspool.tank.id
    import_from  = proxmox_download_file.image.id
    size         = 8
    iothread     = true
    discard      = "on"
  }

  disk {
    interface    = "scsi1"
    datastore_id = "thin"
    size         = 4
  }

  network_device {
    bridge = "vmbr0"
  }

  hostpci {
    device  = "hostpci0"
    mapping = proxmox_hardware_mapping_pci.gpu.name
    pcie    = true
  }

  operating_system {
    type = "l26"
  }

  serial_device {}
}

resource "proxmox_virtual_environment_vm" "base" {
  node_name     = "pve1"
  vm_id         = 310
  name          = "base"
  template      = true
  started       = false
  scsi_hardware = "virtio-scsi-single"

  agent {
    enabled = true
  }

  disk {
    interface    = "scsi0"
    datastore_id = "local-zfs"
    import_from  = proxmox_download_file.image.id
    size         = 4
  }

  network_device {
    bridge = "vmbr0"
  }
}

resource "proxmox_virtual_environment_vm" "node" {
  count         = 3
  node_name     = local.hosts[count.index]
  vm_id         = 320 + count.index
  name          = "node-${count.index}"
  tags          = ["lab", "node"]
  scsi_hardware = "virtio-scsi-single"

  clone {
    vm_id     = proxmox_virtual_environment_vm.base.vm_id
    node_name = "pve1"
    full      = true
  }

  agent {
    enabled = true
  }

  cpu {
    cores = 2
  }

  memory {
    dedicated = 1024
  }

  disk {
    interface    = "scsi0"
    datastore_id = "local-zfs"
    size         = 6
  }

  disk {
    interface    = "scsi1"
    datastore_id = "local-zfs"
    size         = 2
    serial       = "DATA${count.index}"
  }

  network_device {
    bridge  = "vmbr0"
    vlan_id = 5
  }

  network_device {
    bridge  = "vmbr0"
    vlan_id = 62
  }

  initialization {
    datastore_id = "local-zfs"

    dns {
      servers = ["10.66.0.1"]
    }

    ip_config {
      ipv4 {
        address = "10.66.5.${10 + count.index}/24"
        gateway = "10.66.5.1"
      }
    }

    ip_config {
      ipv4 {
        address = "10.66.62.${10 + count.index}/24"
      }
    }

    user_account {
      username = "ann"
      keys     = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0xpVwq0WbYz1ZcJrJkq9Xw3z0Q9vX1nT1vYb8nq0aZ ann"]
    }
  }

  operating_system {
    type = "l26"
  }
}

resource "proxmox_virtual_environment_container" "box" {
  node_name    = "pve2"
  vm_id        = 400
  description  = var.note
  unprivileged = true
  tags         = ["box"]

  initialization {
    hostname = "box"

    ip_config {
      ipv4 {
        address = "10.66.5.90/24"
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
    datastore_id = var.box_storage
    size         = 2
  }

  network_interface {
    name    = "eth0"
    bridge  = "vmbr0"
    vlan_id = 5
  }

  operating_system {
    template_file_id = proxmox_download_file.system.id
    type             = "debian"
  }
}
