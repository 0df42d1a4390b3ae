"""The presets: valid as they are and in any network, and true to what they describe."""

import re
from collections import Counter
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest

from stockman.app.schemas import write_schemas
from stockman.config.classic import CLASSIC_KEYS
from stockman.config.language import Configuration, Dialect
from stockman.config.load import LoadedConfig, load
from stockman.config.presets import (
    NETWORKS,
    PRESETS,
    SCHEMAS,
    SUMMARIES,
    render_preset,
)
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.desired import Desired

LAB = IPv4Network("127.66.0.0/16")
DIALECTS: tuple[Dialect, ...] = ("classic", "toml")
QUAD = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")


def loaded(
    name: str, *, network: IPv4Network | None = None, dialect: Dialect = "classic"
) -> LoadedConfig:
    texts = render_preset(name, network=network, dialect=dialect)
    loaded_config = load({file: text.encode() for file, text in texts.items()})
    check_rules(loaded_config)
    return loaded_config


def estate(name: str) -> Configuration:
    return loaded(name).configuration


def desired(name: str) -> Desired:
    return resolve(loaded(name))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("network", [None, LAB, IPv4Network("127.66.8.0/24")])
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_valid_without_even_a_warning(
    name: str, network: IPv4Network | None, dialect: Dialect
) -> None:
    texts = loaded(name, network=network, dialect=dialect)

    assert [str(problem) for problem in texts.problems] == []
    assert texts.plain_secrets == ()


@pytest.mark.parametrize("name", PRESETS)
def test_both_dialects_say_the_same(name: str) -> None:
    assert loaded(name, dialect="toml").configuration == estate(name)


@pytest.mark.parametrize("name", PRESETS)
def test_no_address_of_the_preset_stays_behind_and_none_is_lost(name: str) -> None:
    before = render_preset(name)
    after = render_preset(name, network=LAB)

    own = {text for text in _addresses(before) if IPv4Address(text) in NETWORKS[name]}
    moved = {text for text in _addresses(after) if IPv4Address(text) in LAB}
    assert not own & _addresses(after)
    assert len(own) == len(moved)


@pytest.mark.parametrize("name", PRESETS)
def test_comments_name_no_address_because_those_would_not_move(name: str) -> None:
    for text in render_preset(name).values():
        comments = [line for line in text.splitlines() if line.lstrip().startswith("#")]

        assert not _addresses(dict(enumerate(comments)))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", PRESETS)
def test_the_first_line_tells_editors_where_the_schema_is(
    name: str, dialect: Dialect, tmp_path: Path
) -> None:
    lines = {schema.file: schema.line for schema in write_schemas(tmp_path, tmp_path / ".schemas")}

    for file, text in render_preset(name, dialect=dialect).items():
        assert text.splitlines()[0] == lines[file]
        assert (tmp_path / SCHEMAS[file]).is_file()


@pytest.mark.parametrize("name", PRESETS)
def test_toml_speaks_of_its_own_keys_and_files(name: str) -> None:
    (text,) = render_preset(name, dialect="toml").values()
    comments = [line for line in text.splitlines() if line.startswith("#")]

    assert not set(re.findall(r"[\w.-]+", "".join(comments))) & set(CLASSIC_KEYS)
    assert "nodes.yaml" not in text
    assert "cluster.yaml" not in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", PRESETS)
def test_toml_has_every_comment(name: str) -> None:
    classic = "".join(render_preset(name).values())
    (toml,) = render_preset(name, dialect="toml").values()

    of_editors = classic.count("# yaml-language-server")
    assert toml.count("# ") == classic.count("# ") - of_editors


@pytest.mark.parametrize("name", PRESETS)
def test_the_header_lists_what_was_invented(name: str) -> None:
    for text in render_preset(name).values():
        header = text[: text.index("\n\n")]

        assert "invented" in header
        assert "heck " in header


@pytest.mark.parametrize("name", PRESETS)
def test_secrets_are_references_to_the_environment(name: str) -> None:
    forms = [secret.form.value for secret in loaded(name).secrets]

    assert forms
    assert set(forms) == {"environment"}


@pytest.mark.parametrize("name", PRESETS)
def test_lines_fit_an_editor(name: str) -> None:
    for text in render_preset(name).values():
        assert max(map(len, text.splitlines())) <= 100
        assert text.endswith("\n")
        assert "\t" not in text


def test_every_preset_has_a_summary_and_a_network() -> None:
    assert list(SUMMARIES) == list(NETWORKS) == list(PRESETS)


def test_an_unknown_preset_is_not_found() -> None:
    with pytest.raises(LookupError):
        render_preset("../single")


def test_single_is_one_controller_that_takes_work() -> None:
    cluster = desired("single").cluster
    (node,) = desired("single").nodes

    assert node.role.value == "controller"
    assert cluster is not None
    assert cluster.kubernetes.schedule_on_controllers


def test_three_node_is_as_it_was_described() -> None:
    wanted = desired("three-node")
    cluster = wanted.cluster

    assert [(node.name, str(node.address.ip)) for node in wanted.nodes] == [
        ("talos-trinity", "10.0.3.16"),
        ("talos-neo", "10.0.3.17"),
        ("talos-niobe", "10.0.3.18"),
    ]
    machines = [node.vm for node in wanted.nodes if node.vm is not None]
    assert [(vm.vmid, vm.host) for vm in machines] == [
        (1030, "trinity"),
        (1031, "neo"),
        (1032, "niobe"),
    ]
    for vm in machines:
        assert (vm.cores, vm.memory, vm.disk_gb, vm.datastore) == (8, 16384, 100, "ceph-vm-disks")
        assert [(nic.bridge, nic.vlan_id) for nic in vm.nics] == [("vmbr0", 3)]
        assert vm.ha is not None
        assert vm.ha.enabled
    assert cluster is not None
    assert cluster.name == "k8s"
    assert cluster.talos.version.minor_text == "1.11"
    assert str(cluster.network.default_gateway) == "10.0.3.1"
    assert str(cluster.kubernetes.pod_cidr) == "10.244.0.0/16"
    assert cluster.kubernetes.schedule_on_controllers
    assert cluster.cilium.loadbalancer_pool == ("10.0.3.19",)
    assert str(cluster.kubernetes.api_addr) != "10.0.3.19"


def test_three_node_keeps_images_on_cephfs_and_does_without_cloudflare() -> None:
    texts = estate("three-node")

    assert texts.proxmox is not None
    assert texts.proxmox.image_storage == "cephfs"
    assert texts.dns.provider == "none"


def test_fifteen_node_is_as_it_was_described() -> None:
    wanted = desired("fifteen-node")
    names = [str(node.name) for node in wanted.nodes]
    workers = [node for node in wanted.nodes if node.role.value == "worker"]
    cluster = wanted.cluster

    assert names[:3] == ["k8s-ctrl-1", "k8s-ctrl-2", "k8s-ctrl-3"]
    assert len(workers) == 12
    assert {f"k8s-work-{number}" for number in (4, 5, 14, 16)} < set(names)
    assert set(names[3:]) < {f"k8s-work-{number}" for number in range(1, 17)}
    assert cluster is not None
    assert cluster.talos.version.bare == "1.11.5"
    assert cluster.kubernetes.version.minor_text == "1.32"
    assert cluster.network.addressing == "dhcp"
    assert str(cluster.network.node_cidr) == "10.20.66.0/23"


def test_fifteen_node_spreads_machines_over_four_hosts() -> None:
    texts = estate("fifteen-node")
    hosts = Counter(str(node.vm.host) for node in texts.nodes if node.vm is not None)

    assert sorted(hosts) == ["baldar", "heimdall", "loki", "thor"]
    assert max(hosts.values()) - min(hosts.values()) <= 1
    assert texts.proxmox is not None
    assert texts.proxmox.endpoint == "https://10.20.66.4:8006"


def test_fifteen_node_has_one_card_in_controllers_and_three_in_workers() -> None:
    for node in desired("fifteen-node").nodes:
        assert node.vm is not None
        cards = [(nic.bridge, nic.vlan_id) for nic in node.vm.nics]

        if node.role.value == "controller":
            assert cards == [("vmbr1", None)]
            assert node.expect.nic_count == 1
        else:
            assert cards == [("vmbr1", None), ("vmbr1", 62), ("vmbr1", 81)]
            assert node.expect.nic_count == 3
            assert [link.name for link in node.links] == ["eth1", "eth2"]


def test_fifteen_node_has_a_fixed_hardware_address_for_every_card() -> None:
    nodes = desired("fifteen-node").nodes
    cards = [nic.mac_addr for node in nodes if node.vm is not None for nic in node.vm.nics]

    assert len(set(cards)) == 3 + 12 * 3
    assert None not in cards
    assert cards == [
        nic.mac_addr
        for node in desired("fifteen-node").nodes
        if node.vm is not None
        for nic in node.vm.nics
    ]


def test_fifteen_node_has_two_gpus_that_hosts_offer_where_the_machines_live() -> None:
    texts = estate("fifteen-node")
    mappings = {
        str(node.name): [device.mapping for device in node.vm.pci]
        for node in texts.nodes
        if node.vm is not None and node.vm.pci
    }

    assert mappings == {"k8s-work-4": ["rtx-a2000"], "k8s-work-14": ["rtx-a5000"]}
    for node in texts.nodes:
        if str(node.name) in mappings:
            assert node.class_ == "worker-gpu"
            assert node.vm is not None
            passthrough = texts.hosts[str(node.vm.host)].passthrough
            assert passthrough is not None
            assert [item.name for item in passthrough.pci] == mappings[str(node.name)]


def test_fifteen_node_has_both_schematics() -> None:
    talos = estate("fifteen-node").talos

    assert str(talos.controller_schematic_id).startswith("366fd68945d4")
    assert str(talos.worker_schematic_id).startswith("990731763242")


def test_home_is_an_estate_without_a_cluster() -> None:
    texts = estate("home")

    assert texts.nodes == ()
    assert desired("home").cluster is None
    assert sorted(texts.hosts) == [
        "chief-horse",
        "fun-bedbug",
        "pumped-piglet",
        "pve",
        "still-fawn",
    ]


def test_home_has_the_guests_that_were_described() -> None:
    guests = {str(guest.name): guest for guest in estate("home").guests}

    assert {
        name: str(guests[name].address)
        for name in ("k3s-vm-still-fawn", "k3s-vm-pumped-piglet-gpu", "k3s-vm-pve")
    } == {
        "k3s-vm-still-fawn": "192.168.4.212",
        "k3s-vm-pumped-piglet-gpu": "192.168.4.210",
        "k3s-vm-pve": "192.168.4.238",
    }
    assert (guests["homeassistant"].vmid, guests["homeassistant"].host) == (116, "chief-horse")
    assert (guests["frigate"].vmid, guests["frigate"].host) == (113, "fun-bedbug")
    assert guests["frigate"].container is not None


def test_home_changes_no_guest_whose_hardware_is_invented() -> None:
    full = [str(guest.name) for guest in estate("home").guests if guest.manage == "full"]

    assert full == ["k3s-vm-still-fawn"]


def _addresses(texts: dict[str, str] | dict[int, str]) -> set[str]:
    return {texts for text in texts.values() for texts in QUAD.findall(text)}
