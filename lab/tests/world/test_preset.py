"""Presets make worlds that their own configuration fits into."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest
from stockman_lab.guest.network import NicView
from stockman_lab.world.preset import EMPTY, PresetOptions, preset_world

from scripts import write_lab_presets
from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.model.guest import Guest
from stockman.model.package_file import read_package_text

NETWORK = IPv4Network("127.66.0.0/16")
PRESETS = ("single", "three-node", "fifteen-node", "home", "empty")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_every_preset_makes_a_world(preset: str, profile: str) -> None:
    world = preset_world(PresetOptions(preset=preset, network=NETWORK, profile=profile))
    for cluster in world.clusters.values():
        assert cluster.is_quorate
        addresses = [host.address for host in cluster.state.hosts.values()]
        assert len(set(addresses)) == len(addresses)
        assert all(IPv4Address(address) in NETWORK for address in addresses)
        assert "local" in cluster.state.storages


def test_hosts_and_storages_are_those_that_the_preset_names() -> None:
    (cluster,) = preset_world(PresetOptions(preset="three-node", network=NETWORK)).clusters.values()
    assert list(cluster.state.hosts) == ["trinity", "neo", "niobe"]
    assert cluster.state.storages["ceph-vm-disks"].type == "rbd"
    assert "import" in cluster.state.storages["cephfs"].content
    assert cluster.state.hosts["trinity"].address == "127.66.0.4"


def test_devices_that_mappings_need_are_there() -> None:
    (cluster,) = preset_world(PresetOptions(preset="home", network=NETWORK)).clusters.values()
    assert "0000:03:00.0" in [one.id for one in cluster.state.hosts["still-fawn"].pci]
    assert cluster.state.hosts["fun-bedbug"].usb[0].vendid == "0x1a6e"


def test_the_dhcp_server_keeps_the_addresses_that_the_preset_counts_on() -> None:
    world = preset_world(PresetOptions(preset="fifteen-node", network=NETWORK))
    first = NicView(number=0, mac="BC:24:11:66:00:01", bridge="vmbr1")
    stranger = NicView(number=0, mac="BC:24:11:00:00:01", bridge="vmbr1")
    assert world.state.network.lease(first, 4) == "127.66.0.11/16"
    assert world.state.network.lease(stranger, 4) == "127.66.255.192/16"


def test_the_factory_knows_schematics_that_the_preset_names_by_id_alone() -> None:
    world = preset_world(PresetOptions(preset="fifteen-node", network=NETWORK))
    texts = sorted(world.factory.schematics.values())
    assert sum("qemu-guest-agent" in text for text in texts) == 2
    assert sum("nvidia" in text for text in texts) == 1


def test_images_that_guests_are_made_from_are_on_their_hosts() -> None:
    (cluster,) = preset_world(PresetOptions(preset="home", network=NETWORK)).clusters.values()
    volumes = [(volume.host, volume.id) for volume in cluster.state.volumes.values()]
    assert [volume for volume in volumes if "vm-" not in volume[1]] == [
        ("still-fawn", "local:import/noble-server-cloudimg-amd64.qcow2"),
        ("fun-bedbug", "local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst"),
    ]


@pytest.mark.parametrize("preset", PRESETS)
def test_guests_that_the_preset_only_looks_at_run_and_others_are_not_there(preset: str) -> None:
    seen = (
        [] if preset == EMPTY else [guest for guest in _guests(preset) if guest.manage == "observe"]
    )
    world = preset_world(PresetOptions(preset=preset, network=NETWORK))

    statuses = {
        (guest.config.values.get("name") or guest.config.values["hostname"], vmid): guest.status
        for cluster in world.clusters.values()
        for vmid, guest in cluster.state.guests.items()
    }

    assert statuses == {(str(one.name), int(one.vmid)): "running" for one in seen}
    assert bool(statuses) == (preset == "home")


def _guests(preset: str) -> tuple[Guest, ...]:
    texts = render_preset(preset, network=NETWORK)
    return resolve(load({name: text.encode() for name, text in texts.items()})).guests


def test_the_table_is_what_the_presets_say() -> None:
    table = read_package_text("stockman_lab.world", "presets.json")
    assert table == write_lab_presets.text()
