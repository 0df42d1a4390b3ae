"""Network cards of virtual machines."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.nic import completed_nic, parse_nic, renewed_nic, vlans

from lab.tests.pve.throws import Counting

MAC = "BC:24:11:AA:BB:CC"


@pytest.mark.parametrize(
    "text",
    [
        f"virtio={MAC},bridge=vmbr0,firewall=1,queues=4,tag=62",
        f"model=virtio,tag=62,queues=4,firewall=1,macaddr={MAC},bridge=vmbr0",
        f"tag=62,virtio,macaddr={MAC},bridge=vmbr0,firewall=on,queues=4",
    ],
)
def test_model_and_address_are_one_pair_in_front(text: str) -> None:
    assert str(parse_nic(text)) == f"virtio={MAC},bridge=vmbr0,firewall=1,queues=4,tag=62"


def test_a_card_without_an_address_gets_one_with_the_prefix_of_the_data_centre() -> None:
    dice = Counting()

    first = completed_nic("virtio,bridge=vmbr0", dice)
    second = completed_nic("virtio,bridge=vmbr0", dice, prefix="aa:bb")

    assert str(first) == "virtio=BC:24:11:00:00:01,bridge=vmbr0"
    assert second.mac == "AA:BB:00:00:00:02"


def test_an_address_stays_as_it_was_given() -> None:
    assert completed_nic("e1000=bc:24:11:aa:bb:cc", Counting()).mac == "bc:24:11:aa:bb:cc"


def test_a_clone_gets_another_address_and_keeps_the_rest() -> None:
    renewed = renewed_nic(f"virtio={MAC},bridge=vmbr0,tag=5", Counting())

    assert str(renewed) == "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=5"


def test_what_a_card_says_about_itself() -> None:
    nic = parse_nic(f"virtio={MAC},bridge=vmbr1,tag=62,link_down=1")
    behind_nat = parse_nic("rtl8139")

    assert (nic.model, nic.mac, nic.bridge, nic.tag) == ("virtio", MAC, "vmbr1", 62)
    assert nic.is_down
    assert (behind_nat.mac, behind_nat.bridge, behind_nat.tag) == ("", "", None)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("bridge=vmbr0", "model"),
        ("floppy", "model"),
        ("virtio,queues=65", "queues"),
        ("virtio,tag=0", "tag"),
        ("virtio,tag=4095", "tag"),
        ("virtio,mtu=65521", "mtu"),
        ("virtio,rate=-1", "rate"),
        ("virtio,trunks=5-", "trunks"),
        ("virtio=01:24:11:AA:BB:CC", "macaddr"),
        ("virtio,bridge=vm br0", "bridge"),
        ("virtio,name=eth0", "name"),
    ],
)
def test_a_value_out_of_bounds_is_refused(text: str, name: str) -> None:
    with pytest.raises(FormatError) as refused:
        parse_nic(text)

    assert list(refused.value.errors) == [name]


def test_a_second_address_is_refused() -> None:
    with pytest.raises(FormatError, match=r"key 'macaddr' is already defined \(via alias\)"):
        parse_nic(f"macaddr={MAC},virtio={MAC}")


def test_a_trunk_is_all_its_vlans() -> None:
    assert vlans("5;10-12;7-3") == ["10", "11", "12", "5", "7"]
    assert vlans("") == []
    assert vlans("5-99999999") == ["5"]
