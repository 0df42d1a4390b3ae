"""Networks as Proxmox VE writes them."""

from __future__ import annotations

import pytest
from stockman_lab.guest.first_boot import Addressing, first_boot
from stockman_lab.pve.cloudinit.drive import network_version_1
from stockman_lab.pve.cloudinit.settings import CloudInitError, Resolver

from lab.tests.pve.cloudinit.made import SEVERAL, STATIC, vm

NOWHERE = Resolver()


def test_a_guest_understands_what_is_written() -> None:
    found = first_boot({"network-config": network_version_1(vm(SEVERAL)).encode()})

    assert found.links == [
        Addressing(name="eth0", mac="bc:24:11:aa:bb:00", dhcp4=True),
        Addressing(name="eth10", mac="bc:24:11:aa:bb:10", self_made=True),
        Addressing(name="eth2", mac="bc:24:11:aa:bb:02", addresses=["127.66.2.2/8"], dhcp6=True),
    ]


@pytest.mark.parametrize(
    "ipconfig", ["gw=127.66.0.1", "ip=dhcp,gw=127.66.0.1", "ip6=auto,gw6=fd66::1"]
)
def test_what_contradicts_itself_is_passed_over(ipconfig: str) -> None:
    text = network_version_1(vm(STATIC | {"ipconfig0": ipconfig}, resolver=NOWHERE))

    assert text.endswith("      subnets:\n    - type: nameserver\n")


def test_a_card_without_a_mac_address_is_refused() -> None:
    with pytest.raises(CloudInitError, match="network interface 'net0' has no mac address"):
        network_version_1(vm({"net0": "virtio,bridge=vmbr0", "ipconfig0": "ip=dhcp"}))


def test_an_address_without_a_prefix_is_refused() -> None:
    with pytest.raises(CloudInitError, match="not a CIDR"):
        network_version_1(vm(STATIC | {"ipconfig0": "ip=127.0.0.1"}))
