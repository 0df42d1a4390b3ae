"""What is seen of containers from outside."""

from __future__ import annotations

import re

import pytest

from lab.tests.pve.endpoints.containers import CT, LXC, one_container, rows, running_container
from lab.tests.returns import promised

STATIC = "name=eth0,bridge=vmbr0,ip=127.66.9.9/16,gw=127.66.0.1,ip6=fd00::9/64"
LEASED = "name=eth1,bridge=vmbr0,ip=dhcp,hwaddr=BC:24:11:00:00:01"
DOWN = "name=eth2,bridge=vmbr0,ip=dhcp,link_down=1"

LIKE_THE_REAL_ONE = re.compile(r"cpulimit: '1.5' is no number|(value|pending): \d+ is no string")
"""Fractions are texts, and waiting values are of their own kind, whatever the schema says."""


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


def test_figures_begin_with_the_start() -> None:
    asked = running_container()
    asked.world.advance(600)

    found = rows(asked, f"{CT}/rrddata", timeframe="hour")

    assert len(found) == 70
    assert "cpu" not in found[0]
    assert found[-1]["maxcpu"] == 16


@pytest.mark.parametrize("profile", ["8.4", "9.1"])
@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("", {}),
        ("/{vmid}", {}),
        ("/{vmid}/config", {}),
        ("/{vmid}/pending", {}),
        ("/{vmid}/status", {}),
        ("/{vmid}/status/current", {}),
        ("/{vmid}/interfaces", {}),
        ("/{vmid}/rrddata", {"timeframe": "day"}),
        ("/{vmid}/feature", {"feature": "copy"}),
        ("/{vmid}/snapshot", {}),
        ("/{vmid}/snapshot/{snapname}", {}),
        ("/{vmid}/snapshot/{snapname}/config", {}),
    ],
)
def test_replies_are_what_the_schema_promises(
    profile: str, path: str, params: dict[str, object]
) -> None:
    asked = one_container(profile, net0=LEASED, cpulimit="1.5", tags="a", mp0="thin:1,mp=/srv")
    asked.done(asked.post(f"{CT}/snapshot", snapname="one"))
    asked.done(asked.post(f"{CT}/status/start"))
    asked.put(f"{CT}/config", tty=3)

    value = asked.get(LXC + path.format(vmid=200, snapname="one"), **params)

    found = promised(asked, "GET", f"/nodes/{{node}}/lxc{path}", value)
    assert [line for line in found if not LIKE_THE_REAL_ONE.search(line)] == []


def test_where_a_container_could_go_is_as_promised() -> None:
    value = one_container().get(f"{CT}/migrate")

    assert promised(one_container(), "GET", "/nodes/{node}/lxc/{vmid}/migrate", value) == []
