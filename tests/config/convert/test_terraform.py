"""From the variables of a Terraform stack to the configuration."""

from __future__ import annotations

import pytest
import yaml

from stockman.config.convert.output import ConversionResult
from stockman.config.convert.terraform import convert_terraform

CONTROLLER_ID = "3" * 64
WORKER_ID = "9" * 64
CANARY = "canary-55d2"
STACK = f"""
variable "talos_version" {{
  description = "Talos"
  type        = string
  default     = "1.11.5"
}}
variable "kubernetes_version"      {{ default = "1.32.1" }}
variable "controller_schematic_id" {{ default = "{CONTROLLER_ID}" }}
variable "worker_schematic_id"     {{ default = "{WORKER_ID}" }}
variable "proxmox_endpoint"        {{ default = "https://127.66.0.4:8006/api2/json" }}
variable "controllers" {{
  default = {{
    "ctrl-1" = {{
      ip_address  = "127.66.0.11/23"
      mac_address = "52:54:00:12:34:56"
      vm_id       = 1001
      host        = "pve-a"
      gateway     = "127.66.0.1"
    }}
  }}
}}
variable "workers" {{
  default = [
    {{ name = "work-1", ip = "127.66.0.21", mac = "bc:24:11:00:00:21", vmid = 1021, node = "pve-b",
      cores = 8, memory = 32768, disk = "200G", install_disk = "/dev/vda" }},
  ]
}}
"""


def converted(text: str) -> ConversionResult:
    return convert_terraform("variables.tf", text.encode(), to_toml=False)


def cluster(result: ConversionResult) -> object:
    return yaml.safe_load(result.files["cluster.yaml"])


def machines(result: ConversionResult) -> object:
    return yaml.safe_load(result.files["nodes.yaml"])


def lost(result: ConversionResult) -> dict[str, str]:
    return {item.key: item.reason for item in result.lost}


def test_versions_schematics_and_the_endpoint_are_carried() -> None:
    assert cluster(converted(STACK)) == {
        "node_cidr": "127.66.0.0/23",
        "node_default_gateway": "127.66.0.1",
        "talos_version": "1.11.5",
        "controller_schematic_id": CONTROLLER_ID,
        "worker_schematic_id": WORKER_ID,
        "kubernetes_version": "1.32.1",
        "proxmox_endpoint": "https://127.66.0.4:8006",
    }


def test_maps_and_lists_of_machines_become_nodes_with_their_role() -> None:
    result = converted(STACK)

    assert machines(result) == {
        "nodes": [
            {
                "name": "ctrl-1",
                "address": "127.66.0.11",
                "controller": True,
                "mac_addr": "52:54:00:12:34:56",
                "vm": {"vmid": 1001, "host": "pve-a"},
            },
            {
                "name": "work-1",
                "address": "127.66.0.21",
                "controller": False,
                "mac_addr": "bc:24:11:00:00:21",
                "disk": "/dev/vda",
                "vm": {
                    "vmid": 1021,
                    "host": "pve-b",
                    "cores": 8,
                    "memory": 32768,
                    "disk_gb": 200,
                },
            },
        ]
    }
    assert result.lost == ()
    assert result.notes == ("comments and descriptions of variables are not carried",)


@pytest.mark.parametrize(
    ("key", "controller"),
    [
        ("controller = true", True),
        ("is_controlplane = false", False),
        ('machine_type = "controlplane"', True),
        ('role = "worker"', False),
    ],
)
def test_a_machine_may_say_its_role_itself(key: str, controller: bool) -> None:
    text = f'variable "nodes" {{ default = {{ a = {{ ip = "127.66.0.11", {key} }} }} }}'

    assert machines(converted(text)) == {
        "nodes": [{"name": "a", "address": "127.66.0.11", "controller": controller}]
    }


def test_machines_may_stand_under_their_roles() -> None:
    text = """
    nodes = {
      controllers = { a = { ip = "127.66.0.11" } }
      workers     = { b = { ip = "127.66.0.12" } }
      spare       = { c = { ip = "127.66.0.13" } }
    }
    """

    assert machines(converted(text)) == {
        "nodes": [
            {"name": "a", "address": "127.66.0.11", "controller": True},
            {"name": "b", "address": "127.66.0.12", "controller": False},
            {"name": "c", "address": "127.66.0.13"},
        ]
    }


def test_what_holds_for_all_or_for_a_role_goes_to_the_classes() -> None:
    text = """
    network_bridge  = "vmbr1"
    datastore       = "tank"
    install_disk    = "/dev/sda"
    worker_memory   = 32768
    worker_disk_size = "200G"
    control_plane_cores = 4
    """

    assert machines(converted(text)) == {
        "classes": {
            "controller": {
                "vm": {"bridge": "vmbr1", "datastore": "tank", "cores": 4},
                "disk": "/dev/sda",
            },
            "worker": {
                "vm": {"bridge": "vmbr1", "datastore": "tank", "memory": 32768, "disk_gb": 200},
                "disk": "/dev/sda",
            },
        }
    }


def test_locals_and_assignments_are_values_too() -> None:
    text = 'locals {\n  talos_version = "1.11.0"\n}\ncluster_endpoint = "https://127.66.0.9:6443"\n'

    assert cluster(converted(text)) == {
        "cluster_api_addr": "127.66.0.9",
        "talos_version": "1.11.0",
    }


def test_what_terraform_would_have_to_work_out_is_listed() -> None:
    result = converted(
        'talos_version = var.version\ndns_servers = ["127.66.0.1", var.dns, "x"]\n'
        'variable "nodes" { default = { a = { ip = "${var.net}.1", vmid = 100 } } }\n'
        'variable "token" { sensitive = true }\nvariable "none" { default = null }\n'
        'environment = "home"\ncluster_name = "Not A Name"\n'
    )

    assert cluster(result) == {"node_dns_servers": ["127.66.0.1"]}
    expression = "it is an expression, which only Terraform can work out"
    assert lost(result) == {
        "talos_version": expression,
        "dns_servers[1]": expression,
        "dns_servers[2]": "its value does not fit the key that it would have",
        "nodes.a.ip": expression,
        "token": "it has no default value",
        "none": "it has no default value",
        "environment": "there is no key for it",
        "cluster_name": "its value does not fit the key that it would have",
    }


def test_a_token_in_one_text_is_taken_apart_and_never_shown() -> None:
    result = converted(
        f'proxmox_api_token = "root@pam!tofu={CANARY}"\nproxmox_token = "{CANARY}"\n'
    )

    assert cluster(result) == {
        "proxmox_token_id": "root@pam!tofu",
        "proxmox_token_secret": CANARY,
    }
    assert lost(result) == {"proxmox_token": "it is not `user@realm!name=secret`"}
    assert CANARY not in repr(result)


def test_a_secret_under_a_wrong_name_is_never_shown() -> None:
    result = converted(f'proxmox_token_id = "{CANARY}"\ngateway = "{CANARY}"\n')

    assert CANARY not in repr(result) + "".join(result.files.values())


def test_what_is_needed_and_not_given_is_named() -> None:
    whats = [item.what for item in converted(STACK).to_fill]

    assert "cluster_api_addr is missing" in whats
    assert not any("mac_addr" in what for what in whats)


def test_the_result_may_be_toml() -> None:
    conversion_result = convert_terraform("variables.tf", STACK.encode(), to_toml=True)

    assert '[[nodes]]\nname = "ctrl-1"\n' in conversion_result.files["cluster.toml"]


def test_a_file_that_cannot_be_read_is_a_problem_with_its_place() -> None:
    result = converted("a = {\n")

    assert [(problem.code, str(problem.where)) for problem in result.problems] == [
        ("hcl.syntax", "variables.tf:2:1")
    ]
    assert result.files == {}
