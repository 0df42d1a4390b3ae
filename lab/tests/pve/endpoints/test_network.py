"""Interfaces of hosts: staged, reloaded, reverted."""

from __future__ import annotations

import pytest
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.errors import ApiError

from lab.tests.returns import promised
from lab.tests.worlds import door

NETWORK = "/nodes/pve1/network"


@pytest.fixture
def lab() -> MemoryDoor:
    """The API; pve1 has two more cards than it uses."""
    found = door()
    for card in ("eno2", "eno3"):
        found.cluster.state.hosts["pve1"].interfaces[card] = {"type": "eth", "exists": "1"}
    return found


def test_rows_tell_what_the_file_says(lab: MemoryDoor) -> None:
    rows = _rows(lab)
    assert [row["iface"] for row in rows] == ["eno1", "eno2", "eno3", "vmbr0"]
    assert promised(lab, "GET", "/nodes/{node}/network", rows) == []
    assert rows[-1] == {
        "iface": "vmbr0",
        "type": "bridge",
        "method": "static",
        "method6": "manual",
        "families": ["inet"],
        "address": "127.66.0.11",
        "netmask": "16",
        "cidr": "127.66.0.11/16",
        "gateway": "127.66.0.1",
        "autostart": 1,
        "active": 1,
        "bridge_ports": "eno1",
        "bridge_stp": "off",
        "bridge_fd": "0",
        "bridge_vlan_aware": 1,
        "bridge_vids": "2-4094",
        "priority": 6,
    }
    assert rows[0]["exists"] == 1


def test_edits_wait_for_a_reload(lab: MemoryDoor) -> None:
    lab.post(NETWORK, iface="vmbr9", type="bridge", cidr="10.9.0.1/24", autostart=1, mtu=1400)
    host = lab.cluster.state.hosts["pve1"]
    assert "vmbr9" not in host.interfaces
    row = lab.get(f"{NETWORK}/vmbr9")
    assert isinstance(row, dict)
    assert (row["mtu"], "active" in row) == ("1400", False)
    upid = lab.put(NETWORK)
    assert str(upid).split(":")[5:7] == ["srvreload", "networking"]
    assert lab.done(upid) == "OK"
    row = lab.get(f"{NETWORK}/vmbr9")
    assert isinstance(row, dict)
    assert row["active"] == 1
    assert "vmbr9" in host.interfaces


def test_edits_are_shown_as_a_difference(lab: MemoryDoor) -> None:
    assert "changes" not in (lab.reply("GET", NETWORK).body or {})
    lab.put(
        f"{NETWORK}/vmbr0",
        type="bridge",
        cidr="127.66.0.99/16",
        gateway="127.66.0.1",
        bridge_ports="eno1",
        bridge_vlan_aware=1,
        autostart=1,
    )
    changes = str((lab.reply("GET", NETWORK).body or {})["changes"])
    assert "-\taddress 127.66.0.11/16\n+\taddress 127.66.0.99/16\n" in changes
    assert changes.startswith("--- /etc/network/interfaces\n+++ /etc/network/interfaces.new\n")


def test_edits_are_thrown_away(lab: MemoryDoor) -> None:
    lab.delete(f"{NETWORK}/vmbr0")
    assert [row["iface"] for row in _rows(lab)] == ["eno1", "eno2", "eno3"]
    lab.delete(NETWORK)
    assert [row["iface"] for row in _rows(lab)] == ["eno1", "eno2", "eno3", "vmbr0"]


def test_addresses_that_are_not_given_again_are_lost(lab: MemoryDoor) -> None:
    lab.post(NETWORK, iface="vmbr9", type="bridge", cidr="10.9.0.1/24", cidr6="fd00::1/64")
    row = lab.get(f"{NETWORK}/vmbr9")
    assert isinstance(row, dict)
    assert (row["families"], row["method6"]) == (["inet", "inet6"], "static")
    lab.put(f"{NETWORK}/vmbr9", type="bridge", cidr="10.9.0.1/24")
    row = lab.get(f"{NETWORK}/vmbr9")
    assert isinstance(row, dict)
    assert (row["families"], "address6" in row, row["method6"]) == (["inet"], False, "manual")


def test_an_empty_comment_is_none(lab: MemoryDoor) -> None:
    lab.post(NETWORK, iface="vmbr9", type="bridge", comments="wool")
    row = lab.get(f"{NETWORK}/vmbr9")
    assert isinstance(row, dict)
    assert row["comments"] == "wool\n"
    lab.put(f"{NETWORK}/vmbr9", type="bridge", comments="")
    row = lab.get(f"{NETWORK}/vmbr9")
    assert isinstance(row, dict)
    assert "comments" not in row


def test_a_vlan_is_told_by_its_name(lab: MemoryDoor) -> None:
    lab.post(NETWORK, iface="eno2.62", type="vlan")
    row = lab.get(f"{NETWORK}/eno2.62")
    assert isinstance(row, dict)
    assert (row["vlan-raw-device"], row["vlan-id"], row["exists"]) == ("eno2", "62", 1)


def test_a_vlan_with_a_name_of_its_own(lab: MemoryDoor) -> None:
    options = {"iface": "storage", "type": "vlan", "vlan-id": 7, "vlan-raw-device": "eno2"}
    assert lab.reply("POST", NETWORK, options).status == 200
    row = lab.get(f"{NETWORK}/storage")
    assert isinstance(row, dict)
    assert (row["vlan-raw-device"], row["vlan-id"]) == ("eno2", "7")


def test_a_bond_has_a_mode(lab: MemoryDoor) -> None:
    lab.post(NETWORK, iface="bond0", type="bond", slaves="eno3 eno2")
    row = lab.get(f"{NETWORK}/bond0")
    assert isinstance(row, dict)
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
    assert isinstance(row, dict)
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
    lab: MemoryDoor, params: dict[str, object], errors: dict[str, str]
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
    lab: MemoryDoor, params: dict[str, object], text: str
) -> None:
    reply = lab.reply("POST", NETWORK, params)
    assert (reply.status, reply.reason) == (500, text)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_an_interface_has_to_be_there(lab: MemoryDoor, method: str) -> None:
    params: dict[str, object] = {"type": "bridge"} if method == "PUT" else {}
    reply = lab.reply(method, f"{NETWORK}/vmbr77", params)
    assert (reply.body or {})["errors"] == {"iface": "interface does not exist"}


@pytest.mark.parametrize(
    ("kind", "names"),
    [("bridge", ["vmbr0"]), ("any_bridge", ["vmbr0"]), ("eth", ["eno1", "eno2", "eno3"])],
)
def test_interfaces_of_one_kind_are_asked_for(lab: MemoryDoor, kind: str, names: list[str]) -> None:
    rows = lab.get(NETWORK, type=kind)
    assert isinstance(rows, list)
    assert [row["iface"] for row in rows] == names


def test_others_see_bridges_that_they_may_use(lab: MemoryDoor) -> None:
    lab.post("/access/users", userid="ada@pve")
    ada = lab.as_caller(Caller("ada@pve"))
    assert ada.get(NETWORK, type="bridge") == []
    lab.put("/access/acl", path="/sdn/zones/localnetwork", roles="PVESDNUser", users="ada@pve")
    rows = ada.get(NETWORK, type="bridge")
    assert isinstance(rows, list)
    assert [row["iface"] for row in rows] == ["vmbr0"]
    with pytest.raises(ApiError, match=r"Permission check failed \(/nodes/pve1, Sys.Modify\)"):
        ada.put(NETWORK)


def _rows(lab: MemoryDoor) -> list[dict[str, object]]:
    rows = lab.get(NETWORK)
    assert isinstance(rows, list)
    return rows
