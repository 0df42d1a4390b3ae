"""What is seen of containers from outside."""

from __future__ import annotations

from lab.tests.pve.endpoints.containers import CT, one_container, rows, running_container
from lab.tests.returns import promised

STATIC = "name=eth0,bridge=vmbr0,ip=127.66.9.9/16,gw=127.66.0.1,ip6=fd00::9/64"
LEASED = "name=eth1,bridge=vmbr0,ip=dhcp,hwaddr=BC:24:11:00:00:01"
DOWN = "name=eth2,bridge=vmbr0,ip=dhcp,link_down=1"


def test_addresses_are_those_that_were_given_and_those_of_the_network() -> None:
    asked = running_container(net0=STATIC, net1=LEASED, net2=DOWN)

    found = {str(row["name"]): row for row in rows(asked, f"{CT}/interfaces")}

    assert list(found) == ["lo", "eth0", "eth1", "eth2"]
    assert found["lo"]["inet"] == "127.0.0.1/8"
    assert found["eth0"]["inet"] == "127.66.9.9/16"
    leased = found["eth1"]
    assert leased["hwaddr"] == leased["hardware-address"] == "bc:24:11:00:00:01"
    assert leased["ip-addresses"] == [
        {"ip-address": "127.66.1.100", "ip-address-type": "inet", "prefix": 16},
        {"ip-address": "fe80::be24:11ff:fe00:1", "ip-address-type": "inet6", "prefix": 64},
    ]
    assert found["eth2"]["ip-addresses"] == []


def test_a_container_that_does_not_run_has_no_links() -> None:
    assert one_container().get(f"{CT}/interfaces") is None


def test_where_a_container_could_go_is_as_promised() -> None:
    value = one_container().get(f"{CT}/migrate")

    assert promised(one_container(), "GET", "/nodes/{node}/lxc/{vmid}/migrate", value) == []
