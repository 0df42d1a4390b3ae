"""Classic files that `init` and `convert` write, judged by CUE.

The definitions in `cue/` say what users of the classic dialect may write, with the keys that
stockman adds in an explicit list. What they say of the dialect's own keys is what its tools
enforce: `node_vlan_tag` and AS numbers are texts, unknown keys are refused.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from stockman.config.convert.dialects import classic_to_toml, toml_to_classic
from stockman.config.convert.terraform import convert_terraform, convert_vm_file
from stockman.config.presets import PRESETS, render_preset
from tools.pytest_plugin import RealTool

DEFINITIONS = Path(__file__).parent / "cue"
Definition = Literal["#Cluster", "#Estate", "#Nodes"]
Judge = Callable[[str, Definition], str]

CLUSTER = """\
node_cidr: 127.66.0.0/24
cluster_api_addr: 127.66.0.10
cluster_dns_gateway_addr: 127.66.0.11
cluster_gateway_addr: 127.66.0.12
repository_name: owner/meadow
cloudflare_enabled: false
"""
NODES = """\
nodes:
  - {name: cp-1, address: 127.66.0.21, controller: true, mac_addr: "bc:24:11:00:00:21"}
  - {name: cp-2, address: 127.66.0.22, controller: true, mac_addr: "bc:24:11:00:00:22"}
"""
NUMBERS = """\
[network]
node_cidr = "127.66.0.0/24"
vlan_tag = 3

[kubernetes.api]
addr = "127.66.0.10"

[gateways]
internal = "127.66.0.11"
dns = "127.66.0.12"
external = "127.66.0.13"

[repository]
url = "ssh://git@github.com/owner/meadow.git"

[domain]
name = "example.com"

[dns]
token = "${TOKEN}"

[cilium.bgp]
router_addr = "127.66.0.1"
router_asn = 64512
node_asn = 64513

[[nodes]]
name = "cp-1"
address = "127.66.0.21"
controller = true
mac_addr = "52:54:00:12:34:56"
schematic_id = "0123456789012345678901234567890123456789012345678901234567890123"
"""


@pytest.fixture
def complaints(real_tool: RealTool, tmp_path: Path) -> Judge:
    """What `cue vet` has against a text; empty if nothing."""
    cue = real_tool("cue")

    def judged(text: str, definition: Definition) -> str:
        data = tmp_path / "data.yaml"
        data.write_text(text)
        schema = DEFINITIONS / ("nodes.cue" if definition == "#Nodes" else "cluster.cue")
        done = subprocess.run(
            [cue, "vet", data, schema, "-d", definition],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode == 0) is (done.stderr == "")
        return done.stderr

    return judged


def _definition(preset: str) -> Definition:
    return "#Estate" if preset == "home" else "#Cluster"


@pytest.mark.parametrize("preset", PRESETS)
def test_what_init_writes_is_right_for_cue(preset: str, complaints: Judge) -> None:
    files = render_preset(preset)

    assert complaints(files["cluster.yaml"], _definition(preset)) == ""
    assert complaints(files["nodes.yaml"], "#Nodes") == ""


@pytest.mark.parametrize("preset", PRESETS)
def test_what_convert_makes_of_toml_is_right_for_cue(preset: str, complaints: Judge) -> None:
    written = {name: text.encode() for name, text in render_preset(preset).items()}

    files = toml_to_classic(
        {name: text.encode() for name, text in classic_to_toml(written).files.items()}
    ).files

    assert complaints(files["cluster.yaml"], _definition(preset)) == ""
    assert complaints(files["nodes.yaml"], "#Nodes") == ""


def test_convert_writes_numbers_as_the_text_that_cue_wants(complaints: Judge) -> None:
    files = toml_to_classic({"cluster.toml": NUMBERS.encode()}).files

    assert complaints(files["cluster.yaml"], "#Cluster") == ""
    assert complaints(files["nodes.yaml"], "#Nodes") == ""


def test_what_convert_makes_of_other_tools_files_is_right_for_cue(complaints: Judge) -> None:
    vms = convert_vm_file(
        "vm.yml",
        b"gitlab: {id: 1040, name: gitlab, node: pve-a, cores: 4, memory: 8192, ip: 127.66.0.40}\n",
        to_toml=False,
    )
    stack = convert_terraform(
        "variables.tf",
        b'talos_version = "1.11.5"\nproxmox_endpoint = "https://127.66.0.4:8006/api2/json"\n'
        b'controllers = { a = { ip = "127.66.0.11/24", mac = "52:54:00:12:34:56", vmid = 101 } }\n',
        to_toml=False,
    )

    for files in (vms.files, stack.files):
        assert complaints(files["cluster.yaml"], "#Estate") == ""
        assert complaints(files["nodes.yaml"], "#Nodes") == ""


def test_the_judge_accepts_the_files_that_the_broken_ones_are_made_of(complaints: Judge) -> None:
    assert complaints(CLUSTER, "#Cluster") == ""
    assert complaints(NODES, "#Nodes") == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "node_vlan_tag: 3\n"),
        ("", "node_cdir: 127.66.0.0/24\n"),
        ("", "cilium_bgp_router_asn: '64512'\n"),
        ("", "nodes: []\n"),
        ("", "cilium_loadbalancer_mode: fast\n"),
        ("", "repository_visibility: hidden\n"),
        ("", "cluster_pod_cidr: 127.66.0.0/24\n"),
        ("cloudflare_enabled: false", "cloudflare_enabled: true"),
        ("127.66.0.0/24", "127.66.0.0"),
        ("127.66.0.10", "127.66.0.300"),
        ("127.66.0.11", "127.66.0.12"),
        ("owner/meadow", "meadow"),
        ("repository_name: owner/meadow\n", ""),
    ],
)
def test_the_judge_refuses_a_broken_cluster_file(old: str, new: str, complaints: Judge) -> None:
    broken = CLUSTER.replace(old, new) if old else CLUSTER + new

    assert complaints(broken, "#Cluster") != ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bc:24:11:00:00:21", "BC:24:11:00:00:21"),
        ("bc:24:11:00:00:21", "bc:24:11:00:00:22"),
        ("cp-1", "cp-2"),
        ("cp-1", "worker"),
        ("cp-1", "Cp_1"),
        ("127.66.0.21", "127.66.0.22"),
        ("controller: true", "controller: yep"),
        ("controller: true", "controller: true, mtu: 1280"),
        ("controller: true", "controller: true, mtu: '1500'"),
        ("controller: true", "controller: true, ip: 127.66.0.9"),
        ("controller: true", "controller: true, schematic_id: abc"),
        ("nodes:", "hosts: {}\nnode_cidr: 127.66.0.0/24\nnodes:"),
    ],
)
def test_the_judge_refuses_a_broken_node_file(old: str, new: str, complaints: Judge) -> None:
    assert complaints(NODES.replace(old, new, 1), "#Nodes") != ""
