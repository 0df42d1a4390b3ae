"""Network cards of containers."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.nic import completed_container_nic, parse_container_nic

from lab.tests.pve.throws import Counting

MAC = "BC:24:11:00:00:05"


def test_the_name_stands_first_and_the_rest_is_sorted() -> None:
    text = (
        f"type=veth,tag=5,ip=10.0.0.9/24,gw=10.0.0.1,hwaddr={MAC},firewall=1,bridge=vmbr0,name=eth0"
    )

    assert str(parse_container_nic(text)) == (
        f"name=eth0,bridge=vmbr0,firewall=1,gw=10.0.0.1,hwaddr={MAC},ip=10.0.0.9/24,tag=5,type=veth"
    )


def test_type_and_address_are_filled_in() -> None:
    nic = completed_container_nic("name=eth0,bridge=vmbr0,ip=dhcp", Counting())

    assert str(nic) == "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:01,ip=dhcp,type=veth"
    assert (nic.name, nic.bridge, nic.tag) == ("eth0", "vmbr0", None)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("bridge=vmbr0", "name"),
        ("name=eth0,ip=10.0.0.9", "ip"),
        ("name=eth0,ip6=10.0.0.9/24", "ip6"),
        ("name=eth0,gw=fe80::1", "gw"),
        ("name=eth0,mtu=63", "mtu"),
        ("name=eth0,type=phys", "type"),
        ("name=eth0,trunks=1-3", "trunks"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(text: str, name: str) -> None:
    with pytest.raises(FormatError) as refused:
        parse_container_nic(text)

    assert list(refused.value.errors) == [name]
