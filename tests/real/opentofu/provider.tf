# Everything that the lab is asked for by OpenTofu; the settings of the provider come from the
# environment.

terraform {
  required_providers {
    proxmox = {
      source = "bpg/proxmox"
    }
  }
}

provider "proxmox" {}

variable "images" {
  type        = string
  description = "Where images are served."
}

variable "checksum" {
  type        = string
  description = "SHA-256 of the image."
}

variable "rules" {
  type        = bool
  description = "Whether high availability knows rules instead of groups."
}

variable "memory" {
  type    = number
  default = 512
}

variable "machine_name" {
  type    = string
  default = "alone"
}

variable "note" {
  type    = string
  default = "made by OpenTofu"
}

variable "box_storage" {
  type    = string
  default = "local-zfs"
}

locals {
  hosts = ["pve1", "pve2", "pve3"]
}
