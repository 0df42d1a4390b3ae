"""Cloud-init keys of Proxmox, and what they cannot say."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from stockman.model.errors import Refused
from stockman.talos.nocloud.network import NodeNetwork, build_node_network
from stockman.talos.nocloud.seed import (
    CustomIso,
    FirstBootData,
    NativeKeys,
    choose_delivery,
    meta_data,
    smbios1,
    smbios_serial,
)
from tests.talos.machine.clusters import NODES
from tests.talos.nocloud.networks import NETWORKS, node

SECOND_CARD = NODES.replace(
    "vm: {vmid: 1021, host: pve-a}",
    "vm: {vmid: 1021, host: pve-a, nics: [{bridge: vmbr0}, {bridge: vmbr1}]}",
)


def native(
    network: NodeNetwork | None = None, nodes: str = NODES, **delivery: object
) -> NativeKeys | CustomIso:
    cluster, machine = node(nodes=nodes)
    return choose_delivery(
        machine,
        network or build_node_network(cluster, machine),
        FirstBootData(**delivery),  # type: ignore[arg-type]
    )


def wishes(network: NodeNetwork | None = None, **delivery: object) -> list[str]:
    keys = native(network, SECOND_CARD, **delivery)
    assert isinstance(keys, CustomIso)
    return [setting.what for setting in keys.settings if setting.needed]


def test_an_addressed_card_needs_no_image() -> None:
    keys = native()

    assert isinstance(keys, NativeKeys)
    text = base64.b64decode(keys.keys["smbios1"].split("serial=")[1].split(",")[0]).decode()
    assert keys.keys["citype"] == "nocloud"
    assert keys.keys["ipconfig0"] == "gw=127.66.0.1,ip=127.66.0.21/24"
    assert keys.keys["nameserver"] == "1.1.1.1 1.0.0.1"
    assert text.startswith("h=cp-1;i=")
    assert keys.later == ()


def test_dhcp_is_a_key_too() -> None:
    keys = native(NETWORKS["dhcp"])

    assert isinstance(keys, NativeKeys)
    assert keys.keys["ipconfig0"] == "ip=dhcp"


def test_a_snippet_holds_the_machine_configuration() -> None:
    keys = native(first_boot=True, snippet="local:snippets/cp-1.yaml")

    assert isinstance(keys, NativeKeys)
    assert keys.keys["cicustom"] == "user=local:snippets/cp-1.yaml"


def test_vlans_and_bonds_need_an_image() -> None:
    assert wishes(NETWORKS["vlan"]) == ["the VLAN eth0.66"]
    assert wishes(NETWORKS["bond"]) == ["the bond bond0"]


def test_labels_and_the_configuration_at_first_boot_need_an_image() -> None:
    assert wishes(labels=True) == ["region, zone, instance-type and provider-id"]
    assert wishes(first_boot=True) == ["the machine configuration at first boot"]


def test_what_the_configuration_says_later_needs_none() -> None:
    keys = native(NETWORKS["static"], SECOND_CARD)
    routed = native(NETWORKS["routes"])

    assert isinstance(keys, NativeKeys)
    assert isinstance(routed, NativeKeys)
    assert [wish.what for wish in keys.later] == [
        "MTU 9000 of eth0",
        "eth1 up without an address",
    ]
    assert [wish.what for wish in routed.later] == ["1 routes by eth0"]


def test_a_machine_that_is_no_vm_has_no_keys() -> None:
    cluster, machine = node()
    metal = replace(machine, vm=None)

    delivery = choose_delivery(metal, build_node_network(cluster, metal), FirstBootData())

    assert isinstance(delivery, CustomIso)


def test_meta_data_says_what_cloud_controllers_read() -> None:
    _, machine = node()
    assert machine.vm is not None

    assert meta_data(machine) == (
        f"instance-id: {machine.vm.uuid}\n"
        "local-hostname: cp-1\n"
        "instance-type: 4VCPU-8GB\n"
        "provider-id: proxmox://pve/1021\n"
        "region: pve\n"
        "zone: pve-a\n"
    )


def test_a_server_is_named_by_the_word_that_talos_knows() -> None:
    text = smbios_serial(hostname="cp-1", instance_id="7", url="http://127.66.0.9/c")

    assert text == "ds=nocloud-net;s=http://127.66.0.9/c;h=cp-1;i=7"


@pytest.mark.parametrize("url", ["ftp://127.66.0.9/", "http://127.66.0.9/a;b"])
def test_servers_that_talos_would_not_ask_are_refused(url: str) -> None:
    with pytest.raises(Refused, match=r"nocloud\.serial"):
        smbios_serial(url=url)


def test_a_serial_number_that_proxmox_would_cut_is_refused() -> None:
    _, machine = node()
    assert machine.vm is not None

    with pytest.raises(Refused, match=r"nocloud\.serial"):
        smbios1(machine.vm.uuid, smbios_serial(url=f"http://127.66.0.9/{'a' * 400}"))
