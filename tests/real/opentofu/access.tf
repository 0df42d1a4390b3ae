resource "proxmox_virtual_environment_role" "keeper" {
  role_id    = "Keeper"
  privileges = ["VM.Audit", "VM.Console", "VM.PowerMgmt", "Datastore.Audit"]
}

resource "proxmox_virtual_environment_group" "staff" {
  group_id = "staff"
  comment  = var.note
}

resource "proxmox_virtual_environment_user" "ann" {
  user_id  = "ann@pve"
  password = "a long password"
  comment  = var.note
  groups   = [proxmox_virtual_environment_group.staff.group_id]
}

resource "proxmox_user_token" "robot" {
  user_id               = proxmox_virtual_environment_user.ann.user_id
  token_name            = "robot"
  comment               = var.note
  privileges_separation = true
}

resource "proxmox_acl" "machines" {
  path      = "/vms"
  role_id   = proxmox_virtual_environment_role.keeper.role_id
  user_id   = proxmox_virtual_environment_user.ann.user_id
  propagate = true
}

resource "proxmox_acl" "robot" {
  path     = "/vms"
  role_id  = proxmox_virtual_environment_role.keeper.role_id
  token_id = proxmox_user_token.robot.id
}

resource "proxmox_acl" "staff" {
  path     = "/storage"
  role_id  = "PVEDatastoreUser"
  group_id = proxmox_virtual_environment_group.staff.group_id
}

resource "proxmox_virtual_environment_pool" "farm" {
  pool_id = "farm"
  comment = var.note
}
