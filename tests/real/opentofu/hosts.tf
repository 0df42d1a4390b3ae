resource "proxmox_storage_directory" "shelf" {
  id      = "shelf"
  path    = "/srv/files/shelf"
  content = ["import", "iso", "vztmpl"]
  nodes   = ["pve1", "pve2"]
}

resource "proxmox_storage_zfspool" "tank" {
  id             = "tank"
  zfs_pool       = "rpool/data"
  content        = ["images", "rootdir"]
  thin_provision = true
}

resource "proxmox_network_linux_vlan" "upstream" {
  node_name = "pve1"
  name      = "eno1.62"
  comment   = "to the switch"
}

resource "proxmox_network_linux_bridge" "storage" {
  node_name  = "pve1"
  name       = "vmbr62"
  address    = "127.70.0.1/24"
  comment    = var.note
  ports      = [proxmox_network_linux_vlan.upstream.name]
  vlan_aware = true
}

resource "proxmox_hardware_mapping_pci" "gpu" {
  name    = "gpu"
  comment = var.note

  map = [
    for host in local.hosts : {
      node        = host
      id          = "10de:1eb8"
      path        = "0000:01:00.0"
      iommu_group = 1
    }
  ]
}

resource "proxmox_hardware_mapping_usb" "stick" {
  name = "stick"
  map  = [{ node = "pve1", id = "1a86:7523" }]
}

resource "proxmox_download_file" "image" {
  node_name          = "pve1"
  datastore_id       = proxmox_storage_directory.shelf.id
  content_type       = "import"
  file_name          = "linux.qcow2"
  url                = "${var.images}/linux.qcow2"
  checksum           = var.checksum
  checksum_algorithm = "sha256"
}

resource "proxmox_download_file" "system" {
  node_name    = "pve2"
  datastore_id = proxmox_storage_directory.shelf.id
  content_type = "vztmpl"
  url          = "${var.images}/debian-12-standard_12.7-1_amd64.tar.gz"
}
