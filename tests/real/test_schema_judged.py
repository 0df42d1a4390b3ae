"""The emitted schemas, judged by an independent validator (`jsonschema`).

Files are loaded with stockman's own reader and the types of YAML 1.2's core schema, which is what
editors use; PyYAML would read YAML 1.1 and take `52:54:00:12:34:56` for a number. Whether a file
fits is the validator's word alone.
"""

import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from stockman.config.language import Dialect
from stockman.config.load import CONFIG_FILES, load
from stockman.config.presets import PRESETS, render_preset
from stockman.config.reference.schema import schema_for
from stockman.config.source.tree import to_plain_data
from stockman.config.source.yaml_reader import read_yaml

VALID = Path(__file__).parents[1] / "valid"
JUDGES = {file: Draft202012Validator(schema_for(file)) for file in CONFIG_FILES}

CLUSTER = """
node_cidr: 127.66.0.0/24
cluster_api_addr: 127.66.0.10
repository_name: owner/meadow
talos_version: 1.12
"""
NODE = """
nodes:
  - name: work-1
    address: 127.66.0.11
    controller: false
    mac_addr: 52:54:00:12:34:56
    disk: /dev/sda
"""
TOML = """
[network]
node_cidr = "127.66.0.0/24"

[[nodes]]
name = "work-1"
address = "127.66.0.11"
controller = false
mac_addr = "52:54:00:12:34:56"
"""

BROKEN = {
    "nodes by name instead of a list": ("nodes.yaml", "nodes: {work-1: {controller: true}}"),
    "an unknown flat key": ("cluster.yaml", CLUSTER + "node_cdir: 127.66.0.0/24"),
    "an unknown key of a section": ("cluster.yaml", CLUSTER + "cilium: {mode: dsr}"),
    "a section of the other file": ("cluster.yaml", CLUSTER + NODE),
    "a section that is reserved": ("cluster.yaml", CLUSTER + "tenants: []"),
    "a section that is a list": ("cluster.yaml", CLUSTER + "proxmox: [pve-a]"),
    "a network without its last octet": ("cluster.yaml", "node_cidr: 127.66.0/24"),
    "an address that is too large": ("cluster.yaml", "cluster_api_addr: 127.66.0.256"),
    "an address with a prefix": ("cluster.yaml", "cluster_api_addr: 127.66.0.10/24"),
    "a value instead of a list": ("cluster.yaml", "node_dns_servers: 127.66.0.1"),
    "a mode that does not exist": ("cluster.yaml", "cilium_loadbalancer_mode: hybrid"),
    "a VLAN beyond the last": ("cluster.yaml", "node_vlan_tag: 4095"),
    "a VLAN in words": ("cluster.yaml", "node_vlan_tag: trunk"),
    "a repository without owner": ("cluster.yaml", "repository_name: meadow"),
    "a visibility that does not exist": ("cluster.yaml", "repository_visibility: internal"),
    "a flag in the words of YAML 1.1": ("cluster.yaml", "cloudflare_enabled: yes"),
    "a version in words": ("cluster.yaml", "talos_version: latest"),
    "a schematic that is too short": ("cluster.yaml", "worker_schematic_id: abc123"),
    "an endpoint with a path": ("cluster.yaml", "proxmox_endpoint: https://127.66.0.4:8006/api2"),
    "a recipient that is no age key": ("cluster.yaml", "backup_age_public_key: ssh-ed25519"),
    "a provider without its issuer": (
        "cluster.yaml",
        CLUSTER + "kubernetes: {oidc: {client_id: kubernetes}}",
    ),
    "a time span without a unit": ("cluster.yaml", CLUSTER + "upgrade: {soak: 10}"),
    "a component under a wrong name": (
        "cluster.yaml",
        CLUSTER + "components: {Proxmox CSI: {enabled: true}}",
    ),
    "a node without an address": (
        "nodes.yaml",
        "nodes: [{name: work-1, controller: true, mac_addr: bc:24:11:00:00:11}]",
    ),
    "a node that is null": ("nodes.yaml", "nodes: [~]"),
    "a node whose name is null": ("nodes.yaml", NODE.replace("name: work-1", "name:")),
    "a node with a name in capitals": ("nodes.yaml", NODE.replace("work-1", "Work_1")),
    "a MAC address with hyphens": ("nodes.yaml", NODE.replace("12:34:56", "12-34-56")),
    "a node that may control": ("nodes.yaml", NODE.replace("false", "perhaps")),
    "a VM without cores": ("nodes.yaml", NODE + "    vm: {vmid: 1011, host: pve-a, cores: 0}"),
    "a VM with a small id": ("nodes.yaml", NODE + "    vm: {vmid: 11, host: pve-a}"),
    "a card without a bridge": ("nodes.yaml", NODE + "    vm: {nics: [{vlan_id: 62}]}"),
    "a card of a class without a bridge": (
        "nodes.yaml",
        NODE + "classes: {worker: {vm: {nics: [{vlan_id: 62}]}}}",
    ),
    "a class with who a node is": ("nodes.yaml", "classes: {worker: {mac_addr: ~}}"),
    "a taint without an effect": ("nodes.yaml", NODE + "    taints: {gpu: yes}"),
    "a guest without an id": ("nodes.yaml", "guests: [{name: haos, host: pve-a}]"),
    "a pool without disks": ("nodes.yaml", "hosts: {pve-a: {pools: [{name: tank, disks: []}]}}"),
    "a host with a wrong name": ("nodes.yaml", "hosts: {PVE A: {}}"),
    "a storage of an unknown type": (
        "nodes.yaml",
        "hosts: {pve-a: {storages: [{name: tank, type: floppy}]}}",
    ),
    "a flat key in the other dialect": ("cluster.toml", 'node_cidr = "127.66.0.0/24"' + TOML),
    "a short repository in the other dialect": (
        "cluster.toml",
        TOML + '[repository]\nurl = "owner/meadow"',
    ),
    "a table instead of tables": ("cluster.toml", '[nodes]\nname = "work-1"'),
    "a number with a fraction": ("cluster.toml", TOML + "[nodes.vm]\ncores = 1.5"),
}

TAKEN = {
    "an empty file": ("nodes.yaml", "# nothing yet\n"),
    "keys without values": ("cluster.yaml", "node_vlan_tag:\nproxmox:\ncilium: {bgp: }"),
    "texts that look like numbers": (
        "cluster.yaml",
        "talos_contract: 1.12\ncilium_bgp_router_asn: '64513'\nnode_vlan_tag: '66'",
    ),
    "labels that look like something else": (
        "nodes.yaml",
        NODE + "    labels: {gpu: true, count: 2, example.com/empty: }",
    ),
    "an upper-case MAC address": ("nodes.yaml", NODE.replace("12:34:56", "AB:CD:EF")),
    "a class that completes nothing by itself": (
        "nodes.yaml",
        NODE + "classes: {worker-gpu: {extends: worker, vm: {memory: 65536}}}",
    ),
    "encrypted values": (
        "cluster.yaml",
        "\n".join(
            f"{key}: ENC[AES256_GCM,data:QUJD,iv:QUJD,tag:QUJD,type:str]"
            for key in ("node_cidr", "node_vlan_tag", "cloudflare_enabled", "talos_version")
        )
        + "\ncilium_loadbalancer_mode: ENC[AES256_GCM,data:QUJD,iv:QUJD,tag:QUJD,type:str]"
        + "\nsops: {version: 3.10.2, age: [{recipient: age1}]}",
    ),
    "underscores in numbers": ("cluster.toml", TOML + "[nodes.vm]\nmemory = 65_536"),
}


def parsed(file: str, text: str) -> object:
    if file.endswith(".toml"):
        return tomllib.loads(text)
    return to_plain_data(read_yaml(file, text))


def complaints(file: str, text: str) -> list[str]:
    return [error.message for error in JUDGES[file].iter_errors(parsed(file, text))]


@pytest.mark.parametrize("file", CONFIG_FILES)
def test_a_schema_is_valid_by_its_own_dialect(file: str) -> None:
    Draft202012Validator.check_schema(schema_for(file))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_every_preset_fits(preset: str, dialect: Dialect) -> None:
    texts = render_preset(preset, dialect=dialect)

    assert {file: complaints(file, text) for file, text in texts.items()} == {
        file: [] for file in texts
    }


@pytest.mark.parametrize(
    "path", sorted(VALID.glob("*/cluster.*")), ids=lambda path: path.parent.name
)
def test_every_valid_example_fits(path: Path) -> None:
    files = [one for one in path.parent.iterdir() if one.name in CONFIG_FILES]

    assert [complaints(file.name, file.read_text()) for file in files] == [[] for _ in files]


@pytest.mark.parametrize(("file", "text"), TAKEN.values(), ids=TAKEN)
def test_every_spelling_that_the_reader_takes_fits(file: str, text: str) -> None:
    assert complaints(file, text) == []


@pytest.mark.parametrize(("file", "text"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_does_not_fit(file: str, text: str) -> None:
    assert complaints(file, text)


@pytest.mark.parametrize(("file", "text"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_broken_for_validate_too(file: str, text: str) -> None:
    problems = load({file: text.encode()}).problems

    assert [error.code for error in problems.errors if error.code != "config.missing-file"]


def test_there_are_thirty_broken_files_and_more() -> None:
    assert len(BROKEN) >= 30


@pytest.mark.parametrize(
    ("file", "text"), [("cluster.yaml", CLUSTER), ("nodes.yaml", NODE), ("cluster.toml", TOML)]
)
def test_what_broken_files_are_made_from_is_whole(file: str, text: str) -> None:
    assert complaints(file, text) == []


@pytest.mark.parametrize("file", CONFIG_FILES)
def test_every_default_and_example_fits_its_own_key(file: str) -> None:
    schema = schema_for(file)

    misfits = []
    for owner, block in {"": schema, **schema["$defs"]}.items():
        for name, key in block.get("properties", {}).items():
            judge = Draft202012Validator({**key, "$defs": schema["$defs"]})
            offered = [*key.get("examples", []), *([key["default"]] if "default" in key else [])]
            misfits += [(owner, name, one) for one in offered if not judge.is_valid(one)]
    assert misfits == []
