resource "proxmox_hagroup" "near" {
  count   = var.rules ? 0 : 1
  group   = "near"
  comment = var.note
  nodes   = { pve1 = 2, pve2 = 1 }
}

resource "proxmox_haresource" "node" {
  resource_id  = "vm:${proxmox_virtual_environment_vm.node[0].vm_id}"
  state        = "started"
  comment      = var.note
  max_restart  = 2
  max_relocate = 2
  group        = var.rules ? null : proxmox_hagroup.near[0].group
}

resource "proxmox_harule" "near" {
  count     = var.rules ? 1 : 0
  rule      = "near"
  type      = "node-affinity"
  comment   = var.note
  resources = [proxmox_haresource.node.resource_id]
  nodes     = { pve1 = 2, pve2 = 1 }
}
