"""From a mapping of VMs to nodes and guests."""

from __future__ import annotations

import pytest
import yaml

from stockman.config.convert.output import ConversionResult, is_vm_file
from stockman.config.convert.terraform import convert_vm_file
from stockman.config.source.yaml_reader import read_yaml

ONE = """\
# The first of three.
talos_one:
  id: 1030
  name: "talos-one"
  node: "pve-a"
  cores: 8
  memory: 16384
  disk_gb: 100
  ip: "127.66.3.16"  # reserved
  gateway: "127.66.3.1"
"""
TWO = """\
talos_two:
  id: 1031
  name: talos-two
  node: pve-b
  ip: 127.66.3.17/24
  gateway: 127.66.3.1
"""
GUEST = """\
gitlab:
  id: 1040
  name: gitlab
  node: pve-a
  cores: 4
  memory: 8192
  disk_gb: 80
  ip: 127.66.3.40
  gateway: 127.66.3.1
"""


def converted(text: str) -> ConversionResult:
    return convert_vm_file("vm.yml", text.encode(), to_toml=False)


def parts(result: ConversionResult) -> tuple[object, object]:
    cluster, machines = (yaml.safe_load(text) for text in result.files.values())
    return cluster, machines


def lost(result: ConversionResult) -> dict[str, str]:
    return {item.key: item.reason for item in result.lost}


def test_talos_vms_become_nodes() -> None:
    cluster, machines = parts(converted(ONE))

    assert cluster == {"node_default_gateway": "127.66.3.1"}
    assert machines == {
        "nodes": [
            {
                "name": "talos-one",
                "address": "127.66.3.16",
                "vm": {
                    "vmid": 1030,
                    "host": "pve-a",
                    "cores": 8,
                    "memory": 16384,
                    "disk_gb": 100,
                },
            }
        ]
    }
    assert converted(ONE).lost == ()


def test_what_is_needed_and_not_given_is_named_and_not_invented() -> None:
    result = converted(ONE)

    whats = [item.what for item in result.to_fill]
    assert "nodes[0].controller is missing" in whats
    assert "nodes[0].mac_addr is missing" not in whats
    assert "node_cidr is missing" in whats
    assert "# to fill in: controller" in result.files["nodes.yaml"]
    assert "# - node_cidr is missing" in result.files["cluster.yaml"]


def test_comments_follow_their_vms() -> None:
    result = converted(ONE)

    assert "  # The first of three.\n  - name: talos-one\n" in result.files["nodes.yaml"]
    assert "address: 127.66.3.16  # reserved\n" in result.files["nodes.yaml"]


def test_an_address_with_a_prefix_gives_the_network() -> None:
    cluster, _ = parts(converted(ONE + TWO))

    assert cluster == {"node_cidr": "127.66.3.0/24", "node_default_gateway": "127.66.3.1"}


def test_gateways_that_differ_are_listed() -> None:
    result = converted(ONE + TWO.replace("gateway: 127.66.3.1", "gateway: 127.66.3.2"))

    assert list(lost(result)) == ["talos_one.gateway", "talos_two.gateway"]
    assert "gateway" not in result.files["cluster.yaml"].split("\n\n", 1)[1]


def test_other_vms_become_guests_that_are_only_watched() -> None:
    result = converted(ONE + GUEST)

    _, machines = parts(result)
    assert isinstance(machines, dict)
    assert machines["guests"] == [
        {
            "name": "gitlab",
            "vmid": 1040,
            "host": "pve-a",
            "address": "127.66.3.40",
            "manage": "observe",
            "vm": {"cores": 4, "memory": 8192, "disk_gb": 80},
        }
    ]
    assert result.notes == ("VMs that are not named talos_* are guests with `manage: observe`",)
    assert lost(result) == {"gitlab.gateway": "guests do not have it"}


def test_a_file_with_guests_only_needs_nothing_but_proxmox() -> None:
    assert [item.what for item in converted(GUEST).to_fill] == [
        "guest gitlab has a place on a Proxmox host, but there is no Proxmox"
    ]


def test_what_has_no_place_is_listed() -> None:
    result = converted(
        ONE.replace("  cores: 8\n", "  cores: many\n  playbook: k3s.yml\n")
        + "defaults: 3\nhalf: {id: 5, node: pve-a}\n"
    )

    assert lost(result) == {
        "talos_one.playbook": "there is no key for it",
        "talos_one.cores": "its value does not fit the key that it would have",
        "defaults": "it is not a VM",
        "half": "a guest needs name",
    }


def test_the_result_may_be_toml() -> None:
    conversion_result = convert_vm_file("vm.yml", ONE.encode(), to_toml=True)

    assert list(conversion_result.files) == ["cluster.toml"]
    assert (
        '[[nodes]]\nname = "talos-one"\n# to fill in: controller\n'
        in (conversion_result.files["cluster.toml"])
    )


def test_a_file_that_cannot_be_read_is_a_problem_with_its_place() -> None:
    result = converted("a: [\n")

    assert [str(problem.where) for problem in result.problems] == ["vm.yml:2:1"]
    assert result.files == {}


@pytest.mark.parametrize(
    ("text", "expected"), [(ONE, True), (GUEST, True), ("nodes: []\n", False), ("", False)]
)
def test_a_mapping_of_vms_is_known_by_what_is_in_it(text: str, expected: bool) -> None:
    assert is_vm_file(read_yaml("vm.yml", text)) is expected
