"""Mappings of devices and directories."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.servers.memory import MemoryClient

from lab.tests.returns import promised
from lab.tests.worlds import door

PCI, USB, DIR = "/cluster/mapping/pci", "/cluster/mapping/usb", "/cluster/mapping/dir"
CARD = "id=10de:1eb8,iommugroup=1,node=pve1,path=0000:01:00.0"


@pytest.fixture
def lab() -> MemoryClient:
    return door()


def test_a_mapping_is_changed_and_deleted(lab: MemoryClient) -> None:
    lab.post(PCI, id="gpu", map=[CARD], description="cards")
    lab.put(f"{PCI}/gpu", map=[CARD], delete="description")
    reply = lab.get(f"{PCI}/gpu")
    assert "description" not in reply
    lab.delete(f"{PCI}/gpu")
    lab.delete(f"{PCI}/gpu")
    assert lab.get(PCI) == []


@pytest.mark.parametrize(
    ("method", "path", "params", "text"),
    [
        ("GET", f"{PCI}/none", {}, "mapping 'none' not found"),
        (
            "POST",
            PCI,
            {"id": "gpu", "map": [CARD]},
            "create hardware mapping failed: pci ID 'gpu' already defined",
        ),
        (
            "PUT",
            f"{PCI}/none",
            {"map": [CARD]},
            "update hardware mapping failed: pci ID 'none' does not exist",
        ),
        (
            "PUT",
            f"{USB}/none",
            {"map": ["id=1a86:7523,node=pve1"]},
            "update hardware mapping failed: usb ID 'none' does not exist",
        ),
        (
            "PUT",
            f"{PCI}/gpu",
            {"map": [CARD], "delete": "map"},
            "update hardware mapping failed: unable to delete required option 'map'",
        ),
        (
            "PUT",
            f"{PCI}/gpu",
            {"map": [CARD], "delete": "wool"},
            "update hardware mapping failed: no such option 'wool'",
        ),
        (
            "PUT",
            f"{PCI}/gpu",
            {"map": [CARD], "digest": "0" * 40},
            (
                "update hardware mapping failed: detected modified configuration"
                " - file changed by other user? Try again."
            ),
        ),
    ],
)
def test_what_cannot_be_is_refused(
    lab: MemoryClient, method: str, path: str, params: dict[str, object], text: str
) -> None:
    lab.post(PCI, id="gpu", map=[CARD])
    reply = lab.reply(method, path, params)
    assert (reply.status, reply.reason) == (500, text)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (CARD, ""),
        (
            CARD.replace("1eb8", "9999"),
            "Invalid configuration: 'id' does not match for 'gpu' (10de:1eb8 != 10de:9999)\n",
        ),
        (
            CARD.replace("01:00.0", "02:00.0"),
            "Invalid configuration: pci device '0000:02:00.0' not found\n",
        ),
        (
            CARD.replace("iommugroup=1,", ""),
            (
                "Invalid configuration: missing expected property 'iommugroup' for device"
                " '0000:01:00.0'\n"
            ),
        ),
        (
            f"{CARD},subsystem-id=10de:1eb8",
            (
                "Invalid configuration: unexpected property 'subsystem-id' configured for device"
                " '0000:01:00.0'\n"
            ),
        ),
    ],
)
def test_devices_of_a_mapping_are_checked_on_a_host(
    lab: MemoryClient, entry: str, message: str
) -> None:
    lab.post(PCI, id="gpu", map=[entry], description="cards")
    rows = lab.get(PCI, check__node="pve1")
    assert [row["message"] for row in rows[0]["checks"]] == ([message] if message else [])
    assert promised(lab, "GET", PCI, rows) == []


def test_a_host_without_a_mapping_is_warned_about(lab: MemoryClient) -> None:
    lab.post(PCI, id="gpu", map=[CARD])
    rows = lab.get(PCI, check__node="pve2")
    warning = {"severity": "warning", "message": "No mapping for node pve2."}
    assert rows[0]["checks"] == [warning]


@pytest.mark.parametrize(
    ("entry", "messages"),
    [
        ("id=1a86:7523,node=pve1", []),
        ("id=1a86:7523,node=pve1,path=1-2", []),
        (
            "id=1a86:0001,node=pve1",
            ["Invalid configuration: usb device '1a86:0001' not found\n"],
        ),
        (
            "id=1a86:7523,node=pve1,path=1-3",
            ["Invalid configuration: usb device '1-3' not found\n"],
        ),
        (
            "id=1a86:0001,node=pve1,path=1-2",
            ["Invalid configuration: 'id' does not match for 'stick' (1a86:7523 != 1a86:0001)\n"],
        ),
    ],
)
def test_usb_devices_are_checked_too(lab: MemoryClient, entry: str, messages: list[str]) -> None:
    lab.post(USB, id="stick", map=[entry])
    rows = lab.get(USB, check__node="pve1")
    assert [row["message"] for row in rows[0]["errors"]] == messages


def test_others_see_mappings_that_they_may_use(lab: MemoryClient) -> None:
    lab.post(PCI, id="gpu", map=[CARD])
    lab.post(PCI, id="other", map=[CARD])
    lab.post("/access/users", userid="ada@pve")
    lab.put("/access/acl", path="/mapping/pci/gpu", roles="PVEMappingUser", users="ada@pve")
    rows = lab.as_caller(Caller("ada@pve")).get(PCI)
    assert [row["id"] for row in rows] == ["gpu"]
