"""Hosts: their state, settings, services, devices and packages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from stockman_lab.authority.making import names_of_host, new_authority, new_certificate
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.errors import ApiError

from lab.tests.returns import promised
from lab.tests.worlds import door, small_world

NODE = "/nodes/pve1"


@pytest.fixture
def lab() -> MemoryDoor:
    return door()


def test_hosts_are_listed(lab: MemoryDoor) -> None:
    lab.cluster.state.hosts["pve2"].has_power = False
    rows = lab.get("/nodes")
    assert [(row["node"], row["status"]) for row in rows] == [
        ("pve1", "online"),
        ("pve2", "offline"),
        ("pve3", "online"),
    ]
    assert rows[0]["uptime"] == 86_400
    assert "uptime" not in rows[1]


@pytest.mark.parametrize(
    "template",
    [
        "/nodes",
        "/nodes/{node}",
        "/nodes/{node}/status",
        "/nodes/{node}/version",
        "/nodes/{node}/config",
        "/nodes/{node}/dns",
        "/nodes/{node}/time",
        "/nodes/{node}/hosts",
        "/nodes/{node}/services",
        "/nodes/{node}/services/{service}/state",
        "/nodes/{node}/capabilities/qemu/cpu",
        "/nodes/{node}/capabilities/qemu/machines",
        "/nodes/{node}/hardware/pci",
        "/nodes/{node}/hardware/pci/{pci-id-or-mapping}/mdev",
        "/nodes/{node}/hardware/usb",
        "/nodes/{node}/apt/update",
        "/nodes/{node}/apt/versions",
        "/nodes/{node}/certificates/info",
        "/nodes/{node}/subscription",
        "/cluster/options",
        "/cluster/sdn/zones",
        "/cluster/sdn/vnets",
        "/nodes/{node}/sdn/zones",
        "/cluster/ha/status/manager_status",
    ],
)
@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_replies_are_what_the_schema_promises(profile: str, template: str) -> None:
    lab = door(small_world(profile))
    path = template.format(node="pve1", service="pveproxy", **{"pci-id-or-mapping": "0000:01:00.0"})
    assert promised(lab, "GET", template, lab.get(path)) == []


def test_settings_of_a_host(lab: MemoryDoor) -> None:
    lab.put(f"{NODE}/config", description="wool", startall__onboot__delay=30)
    found = lab.get(f"{NODE}/config")
    assert (found["description"], found["startall-onboot-delay"]) == ("wool\n", 30)
    assert lab.get(f"{NODE}/config", property="startall-onboot-delay") == {
        "startall-onboot-delay": 30
    }
    with pytest.raises(ApiError, match="detected modified configuration"):
        lab.put(f"{NODE}/config", description="x", digest="0" * 40)
    lab.put(f"{NODE}/config", delete="description", digest=found["digest"])
    assert lab.get(f"{NODE}/config", property="wakeonlan") == {}


def test_names_are_looked_up_where_it_is_said(lab: MemoryDoor) -> None:
    lab.put(f"{NODE}/dns", search="home.arpa", dns1="127.66.0.1")
    assert lab.get(f"{NODE}/dns") == {"search": "home.arpa", "dns1": "127.66.0.1"}


def test_the_hosts_file_is_written_by_who_read_it(lab: MemoryDoor) -> None:
    found = lab.get(f"{NODE}/hosts")
    lab.post(f"{NODE}/hosts", data="127.0.0.1 localhost\n", digest=found["digest"])
    with pytest.raises(ApiError, match="detected modified configuration"):
        lab.post(f"{NODE}/hosts", data="", digest=found["digest"])
    changed = lab.get(f"{NODE}/hosts")
    assert changed["data"] == "127.0.0.1 localhost\n"


def test_local_time_is_that_of_the_zone(lab: MemoryDoor) -> None:
    lab.put(f"{NODE}/time", timezone="Asia/Tokyo")
    found = lab.get(f"{NODE}/time")
    assert found["localtime"] - found["time"] == 9 * 3600
    reply = lab.reply("PUT", f"{NODE}/time", {"timezone": "Meadow/Hill"})
    assert (reply.body or {})["errors"] == {"timezone": "No such timezone: 'Meadow/Hill'"}


def test_moments_without_power_are_empty(lab: MemoryDoor) -> None:
    rows = lab.get(f"{NODE}/rrddata", timeframe="day")
    assert "cpu" not in rows[0]
    assert rows[-1]["maxcpu"] == 16


def test_cards_that_can_be_divided_say_so(lab: MemoryDoor) -> None:
    assert _rows(lab, "pci/0000:01:00.0/mdev") == []
    lab.cluster.state.hosts["pve1"].pci[0].mdev = True
    assert _rows(lab, "pci/01:00.0/mdev")[0]["type"] == "nvidia-256"
    entry = "id=10de:1eb8,iommugroup=1,node=pve1,path=0000:01:00.0"
    lab.post("/cluster/mapping/pci", id="gpu", map=[entry], mdev=1)
    assert len(_rows(lab, "pci/gpu/mdev")) == 1


def test_packages_are_those_of_the_release(lab: MemoryDoor) -> None:
    rows = lab.get(f"{NODE}/apt/versions")
    assert rows[1]["ManagerVersion"] == "9.1.9/7e6ae3dcc6e6ee0d"
    assert lab.done(lab.post(f"{NODE}/apt/update")) == "OK"


def test_certificates_are_those_that_are_served(lab: MemoryDoor) -> None:
    state, dice = lab.cluster.state, lab.world.state.dice
    now = datetime.fromtimestamp(lab.world.now, tz=UTC)
    state.authority = new_authority(now, dice.random_bytes)
    names = names_of_host("pve1", "127.66.0.11")
    state.certificates["pve1"] = new_certificate(state.authority, names, now, dice.random_bytes)
    rows = lab.get(f"{NODE}/certificates/info")
    assert [row["filename"] for row in rows] == ["pve-root-ca.pem", "pve-ssl.pem"]
    assert promised(lab, "GET", "/nodes/{node}/certificates/info", rows) == []
    nodes = lab.get("/nodes")
    assert nodes[0]["ssl_fingerprint"] == rows[1]["fingerprint"]


def _rows(lab: MemoryDoor, below: str, **params: object) -> list[dict[str, object]]:
    return lab.get(f"{NODE}/hardware/{below}", **params)
