"""Answers in the shapes of the real server, read call by call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

import pytest

from stockman.model.errors import Rejected
from stockman.model.names import HostName, Vmid
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import ClusterMember, ClusterState
from stockman.proxmox.ha import HaGroup
from stockman.proxmox.transport import Reply, Request
from stockman.proxmox.vms import AgentAddress, AgentInterface, GuestRef, PendingKey
from tests.adapters.http_proxmox.talking import SimulatedClock

T = TypeVar("T")
HOST = HostName("pve1")
AT = GuestRef(host=HOST, vmid=Vmid(100))


class Canned:
    """A wire that gives one answer to everything."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)

    async def call(self, request: Request) -> Reply:
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


def answered(data: object, ask: Callable[[ProxmoxClient], Awaitable[T]], changes: str = "") -> T:
    async def told() -> T:
        return await ask(ProxmoxClient(Canned(Reply(data=data, changes=changes)), SimulatedClock()))

    return asyncio.run(told())


def test_a_single_host_is_its_own_quorum() -> None:
    row = {"type": "node", "id": "node/pve", "name": "pve", "nodeid": 0, "online": 1, "local": 1}

    assert answered([row], lambda pve: pve.cluster_state()) == ClusterState(
        name="",
        quorate=True,
        members=(ClusterMember(name=HostName("pve"), online=True, is_local=True),),
    )


def test_a_cluster_without_quorum_says_so() -> None:
    row = {"type": "cluster", "name": "lab", "quorate": 0, "nodes": 3}

    assert answered([row], lambda pve: pve.cluster_state()).quorate is False


@pytest.mark.parametrize("data", ["100", 100])
def test_the_next_number_comes_as_text_or_number(data: object) -> None:
    assert answered(data, lambda pve: pve.next_vmid()) == 100


def test_a_guest_of_which_little_is_known_yet_is_unknown() -> None:
    row = {"type": "qemu", "id": "qemu/100", "vmid": 100, "node": "pve1", "status": "unknown"}

    (guest,) = answered([row], lambda pve: pve.resources()).guests

    assert (guest.status, guest.name, guest.memory) == ("unknown", "", None)


def test_rows_of_other_kinds_are_passed_over() -> None:
    rows = [{"type": "sdn", "id": "sdn/a"}, {"type": "pool", "id": "/pool/x", "pool": "x"}]

    answer = answered(rows, lambda pve: pve.resources())

    assert (answer.hosts, answer.guests, answer.storages) == ((), (), ())


def test_the_time_of_a_host_is_read() -> None:
    data = {"time": 1893456000, "localtime": 1893459600, "timezone": "Europe/Berlin"}

    assert answered(data, lambda pve: pve.host_time(HOST)) == datetime(2030, 1, 1, tzinfo=UTC)


def test_changes_of_a_network_that_wait_are_told() -> None:
    diff = "--- a\n+++ b\n"

    assert answered([], lambda pve: pve.host_network(HOST), changes=diff).unapplied == diff


def test_a_device_without_a_group_has_none() -> None:
    device = {"id": "0000:01:00.0", "class": "0x030000", "vendor": "0x10de", "device": "0x2204"}
    rows = [{**device, "iommugroup": -1}, {**device, "iommugroup": 15, "mdev": 1}]

    answer = answered(rows, lambda pve: pve.pci_devices(HOST))

    assert [(one.iommu_group, one.has_mediated) for one in answer] == [(None, False), (15, True)]


def test_certificates_are_read_as_they_are() -> None:
    row = {"filename": "pve-root-ca.pem", "fingerprint": "AB:CD", "pem": "-----BEGIN", "san": []}

    (answer,) = answered([row], lambda pve: pve.host_certificates(HOST))

    assert (answer.filename, answer.fingerprint, answer.pem) == (
        "pve-root-ca.pem",
        "AB:CD",
        "-----BEGIN",
    )


def test_usb_devices_are_read() -> None:
    usb = {"vendid": "046d", "prodid": "c52b", "busnum": 1, "usbpath": "2.3", "product": "Receiver"}

    (device,) = answered([usb], lambda pve: pve.usb_devices(HOST))

    assert (device.product, device.product_name, device.port) == ("c52b", "Receiver", "2.3")


def test_what_waits_for_a_restart_is_told() -> None:
    rows = [
        {"key": "cores", "value": 4, "pending": 8},
        {"key": "net1", "value": "virtio", "delete": 1},
        {"key": "name", "value": "cp-1"},
    ]

    assert answered(rows, lambda pve: pve.vm_pending(AT)) == (
        PendingKey(key="cores", value="4", pending="8"),
        PendingKey(key="net1", value="virtio", is_deleted=True),
        PendingKey(key="name", value="cp-1"),
    )


def test_whether_a_vm_can_move_is_told_with_reasons() -> None:
    data = {
        "running": 1,
        "allowed_nodes": ["pve2"],
        "not_allowed_nodes": {"pve3": {"unavailable_storages": ["tank"]}},
        "local_disks": [{"volid": "local-zfs:vm-100-disk-0", "cdrom": 0}],
        "local_resources": ["hostpci0"],
    }

    answer = answered(data, lambda pve: pve.check_migration(AT))

    assert answer.refused == {"pve3": "unavailable storages: tank"}
    assert (answer.running, answer.allowed) == (True, ("pve2",))
    assert (answer.local_disks, answer.local_resources) == (
        ("local-zfs:vm-100-disk-0",),
        ("hostpci0",),
    )


def test_interfaces_of_the_agent_are_read() -> None:
    data = {
        "result": [
            {
                "name": "eth0",
                "hardware-address": "bc:24:11:00:00:21",
                "ip-addresses": [
                    {"ip-address": "127.66.0.21", "ip-address-type": "ipv4", "prefix": 24}
                ],
                "statistics": {"rx-bytes": 1},
            },
            {"name": "dummy0"},
        ]
    }

    assert answered(data, lambda pve: pve.agent_interfaces(AT)) == (
        AgentInterface(
            name="eth0",
            mac="bc:24:11:00:00:21",
            addresses=(AgentAddress(address="127.66.0.21", prefix=24, kind="ipv4"),),
        ),
        AgentInterface(name="dummy0"),
    )


def test_groups_of_proxmox_8_are_read() -> None:
    row = {"group": "near", "type": "group", "nodes": "pve1:2,pve2", "restricted": 1}

    assert answered([row], lambda pve: pve.ha_groups()) == (
        HaGroup(name="near", hosts={"pve1": 2, "pve2": None}, restricted=True),
    )


def test_replication_that_fails_is_told() -> None:
    row = {"id": "100-0", "guest": 100, "target": "pve2", "fail_count": 3, "error": "no pool"}

    (state,) = answered([row], lambda pve: pve.replication_states(HOST))

    assert (state.failures, state.error, state.last_sync) == (3, "no pool", 0)


def test_privileges_are_read_by_path() -> None:
    data = {"/": {"Sys.Audit": 1}, "/vms": {"VM.Audit": 1, "VM.Clone": 0}}

    assert answered(data, lambda pve: pve.permissions()) == {
        "/": frozenset({"Sys.Audit"}),
        "/vms": frozenset({"VM.Audit", "VM.Clone"}),
    }


def test_an_answer_that_names_no_task_is_odd() -> None:
    with pytest.raises(Rejected, match=r"proxmox\.answer"):
        answered("done", lambda pve: pve.start_vm(AT))
