"""Guests for tests that are about something else: put into the world, not made by requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from stockman_lab.pve import space, workers
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.workers import Job, Work
from stockman_lab.servers.memory import MemoryClient


def put_guest(
    client: MemoryClient, vmid: int = 100, node: str = "pve1", kind: str = "qemu", **values: str
) -> Guest:
    """A guest that is off and has nothing but these values."""
    guest = Guest(vmid=vmid, kind=kind, node=node, config=GuestConfig(values=dict(values)))
    client.cluster.state.guests[vmid] = guest
    return guest


def put_disk(client: MemoryClient, guest: Guest, storage: str) -> None:
    """A disk on a storage, as `scsi0`."""
    cluster = client.cluster
    name = f"vm-{guest.vmid}-disk-0"
    new = space.NewVolume(name, "images", "raw", 1 << 30, vmid=guest.vmid)
    found = cluster.state.storages[storage]
    space.allocate(cluster, found, cluster.state.hosts[guest.node], new)
    guest.config.values["scsi0"] = f"{storage}:{name},size=1G"


class _Plain(Work):
    """What power is to a guest without anything in it."""

    status: ClassVar[str]

    def begin(self, job: Job) -> float:
        del job
        return 2.0

    def finish(self, job: Job) -> None:
        job.cluster.state.guests[job.number("vmid")].status = self.status


class _Start(_Plain):
    status = "running"


class _Shutdown(_Plain):
    status = "stopped"


class _Migrate(Work):
    def begin(self, job: Job) -> float:
        del job
        return 3.0

    def finish(self, job: Job) -> None:
        job.cluster.state.guests[job.number("vmid")].node = job.text("target")


@contextmanager
def plain_power() -> Iterator[None]:
    """Machines that start, stop and move without a word about what is in them."""
    known = dict(workers.WORKS)
    workers.WORKS.update(
        {"qemu.start": _Start(), "qemu.shutdown": _Shutdown(), "qemu.migrate": _Migrate()}
    )
    try:
        yield
    finally:
        workers.WORKS.clear()
        workers.WORKS.update(known)
