"""Hosts: their state, settings, services, devices and packages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from stockman_lab.authority.making import names_of_host, new_authority, new_certificate
from stockman_lab.servers.memory import MemoryClient

from lab.tests.returns import promised
from lab.tests.worlds import door, small_world

NODE = "/nodes/pve1"


@pytest.fixture
def lab() -> MemoryClient:
    return door()


def test_hosts_are_listed(lab: MemoryClient) -> None:
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
        "/nodes/{node}/status",
        "/nodes/{node}/version",
        "/nodes/{node}/dns",
        "/nodes/{node}/time",
        "/nodes/{node}/hardware/pci",
        "/nodes/{node}/hardware/usb",
        "/nodes/{node}/certificates/info",
        "/cluster/options",
        "/cluster/sdn/zones",
    ],
)
@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_replies_are_what_the_schema_promises(profile: str, template: str) -> None:
    lab = door(small_world(profile))
    assert promised(lab, "GET", template, lab.get(template.format(node="pve1"))) == []


def test_local_time_is_that_of_the_zone(lab: MemoryClient) -> None:
    lab.cluster.state.hosts["pve1"].time_zone = "Asia/Tokyo"
    reply = lab.get(f"{NODE}/time")
    assert reply["localtime"] - reply["time"] == 9 * 3600


def test_certificates_are_those_that_are_served(lab: MemoryClient) -> None:
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


def _rows(lab: MemoryClient, below: str, **params: object) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = lab.get(f"{NODE}/hardware/{below}", **params)
    return rows
