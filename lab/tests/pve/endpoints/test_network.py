"""Interfaces of hosts: staged, reloaded, reverted."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient

from lab.tests.worlds import door

NETWORK = "/nodes/pve1/network"


@pytest.fixture
def lab() -> MemoryClient:
    """The API; pve1 has two more cards than it uses."""
    api = door()
    for card in ("eno2", "eno3"):
        api.cluster.state.hosts["pve1"].interfaces[card] = {"type": "eth", "exists": "1"}
    return api


def test_edits_wait_for_a_reload(lab: MemoryClient) -> None:
    lab.post(NETWORK, iface="vmbr9", type="bridge", cidr="10.9.0.1/24", autostart=1, mtu=1400)
    host = lab.cluster.state.hosts["pve1"]
    assert "vmbr9" not in host.interfaces
    row = lab.get(f"{NETWORK}/vmbr9")
    assert (row["mtu"], "active" in row) == ("1400", False)
    upid = lab.put(NETWORK)
    assert str(upid).split(":")[5:7] == ["srvreload", "networking"]
    assert lab.done(upid) == "OK"
    row = lab.get(f"{NETWORK}/vmbr9")
    assert row["active"] == 1
    assert "vmbr9" in host.interfaces


def test_a_vlan_is_told_by_its_name(lab: MemoryClient) -> None:
    lab.post(NETWORK, iface="eno2.62", type="vlan")
    row = lab.get(f"{NETWORK}/eno2.62")
    assert (row["vlan-raw-device"], row["vlan-id"], row["exists"]) == ("eno2", "62", 1)


def test_a_bond_has_a_mode(lab: MemoryClient) -> None:
    lab.post(NETWORK, iface="bond0", type="bond", slaves="eno3 eno2")
    row = lab.get(f"{NETWORK}/bond0")
    assert (row["slaves"], row["bond_mode"], row["bond_miimon"]) == (
        "eno2 eno3",
        "balance-rr",
        "100",
    )
    lab.put(
        f"{NETWORK}/bond0",
        type="bond",
        slaves="eno2 eno3",
        bond_mode="802.3ad",
        bond_xmit_hash_policy="layer3+4",
    )
    lab.put(f"{NETWORK}/bond0", type="bond", slaves="eno2 eno3", bond_mode="balance-rr")
    row = lab.get(f"{NETWORK}/bond0")
    assert "bond_xmit_hash_policy" not in row


@pytest.mark.parametrize(
    ("params", "errors"),
    [
        ({"iface": "vmbr0", "type": "bridge"}, {"iface": "interface already exists"}),
        (
            {"iface": "vmbr9", "type": "bridge", "gateway": "10.0.0.1", "cidr": "10.0.0.2/8"},
            {"gateway": "Default gateway already exists on interface 'vmbr0'."},
        ),
        (
            {"iface": "vmbr9", "type": "bridge", "bridge_ports": "eno1"},
            {"bridge_ports": "eno1 is already used on interface 'vmbr0'."},
        ),
        (
            {
                "iface": "vmbr9",
                "type": "bridge",
                "cidr": "10.0.0.2/8",
                "address": "10.0.0.3",
                "netmask": "255.0.0.0",
            },
            {"address": "address conflicts with cidr"},
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    lab: MemoryClient, params: dict[str, object], errors: dict[str, str]
) -> None:
    reply = lab.reply("POST", NETWORK, params)
    assert (reply.status, (reply.body or {})["errors"]) == (400, errors)
    assert lab.cluster.state.hosts["pve1"].staged is None


@pytest.mark.parametrize(
    ("params", "text"),
    [
        (
            {"iface": "vmbr9", "type": "bridge", "bridge_ports": "none9"},
            "bridge 'vmbr9' - unable to find bridge port 'none9'",
        ),
        (
            {"iface": "none.9", "type": "vlan"},
            "vlan 'none.9' - unable to find parent 'none'",
        ),
        ({"iface": "ovs0", "type": "OVSBridge"},
         "Open VSwitch is not installed (need package 'openvswitch-switch')"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit_together_are_refused(
    lab: MemoryClient, params: dict[str, object], text: str
) -> None:
    reply = lab.reply("POST", NETWORK, params)
    assert (reply.status, reply.reason) == (500, text)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_an_interface_has_to_be_there(lab: MemoryClient, method: str) -> None:
    params: dict[str, object] = {"type": "bridge"} if method == "PUT" else {}
    reply = lab.reply(method, f"{NETWORK}/vmbr77", params)
    assert (reply.body or {})["errors"] == {"iface": "interface does not exist"}


def test_others_see_bridges_that_they_may_use(lab: MemoryClient) -> None:
    lab.post("/access/users", userid="ada@pve")
    ada = lab.as_caller(Caller("ada@pve"))
    assert ada.get(NETWORK, type="bridge") == []
    lab.put("/access/acl", path="/sdn/zones/localnetwork", roles="PVESDNUser", users="ada@pve")
    rows = ada.get(NETWORK, type="bridge")
    assert [row["iface"] for row in rows] == ["vmbr0"]
    with pytest.raises(ApiError, match=r"Permission check failed \(/nodes/pve1, Sys.Modify\)"):
        ada.put(NETWORK)


def _rows(lab: MemoryClient) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = lab.get(NETWORK)
    return rows
