"""Work on one guest: it waits for the lock of the guest's file, and holds it to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from stockman_lab.pve.api.call import Call, Deferred
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.host import Host
from stockman_lab.pve.workers import Job, Work

PATIENCE = 10.0
"""Seconds that anybody waits for the lock."""
_WAITED, _UNTIL, _HELD = "_waited", "_until", "_held"


def seconds_locked(guest: Guest, now: float, *, shared: bool = False) -> float:
    """How long somebody else still holds the lock; readers do not disturb each other."""
    until = guest.busy_until if shared else max(guest.busy_until, guest.shared_until)
    return max(until - now, 0.0)


def lock_timeout(guest: Guest) -> ApiError:
    """What is said to who waited in vain."""
    folder = "qemu-server/lock" if guest.kind == "qemu" else "lxc/pve-config"
    return die(f"can't lock file '/var/lock/{folder}-{guest.vmid}.conf' - got timeout")


class GuestWork(Work):
    """Work on the guest that the argument `vmid` names, on the host of the task.

    What it does is done in two steps, with time between them.
    """

    patience: ClassVar[float] = PATIENCE

    def check(self, job: Job, guest: Guest) -> float:
        """Look whether it can be done; returns how many seconds it takes."""
        del job, guest
        return 0.0

    def do(self, job: Job, guest: Guest) -> None:
        """Do it."""
        raise NotImplementedError

    def shares(self, guest: Guest) -> bool:
        """Whether the file is only read, so that others may read it, too."""
        del guest
        return False

    def begin(self, job: Job) -> float:
        guest = guest_of(job)
        wait = seconds_locked(guest, job.cluster.now, shared=self.shares(guest))
        if wait <= 0:
            return self._enter(job, guest)
        waited = float(str(job.arguments.get(_WAITED, 0.0)))
        if waited >= self.patience:
            raise lock_timeout(guest)
        pause = min(wait, self.patience - waited)
        job.arguments[_WAITED] = waited + pause
        return pause

    def finish(self, job: Job) -> float | None:
        if _HELD not in job.arguments:
            return self.begin(job)
        try:
            self.do(job, guest_of(job))
        except FormatError as error:
            raise die(error.text.strip()) from None
        return None

    def stretched(self, job: Job, seconds: float) -> None:
        guest = guest_of(job)
        if _UNTIL in job.arguments:
            guest.busy_until += seconds
            job.arguments[_UNTIL] = guest.busy_until

    def power_lost(self, job: Job) -> None:
        self._release(job)

    def ended(self, job: Job) -> None:
        self._release(job)

    def _release(self, job: Job) -> None:
        guest = job.cluster.state.guests.get(job.number("vmid"))
        if guest is not None and job.arguments.get(_UNTIL) == guest.busy_until:
            guest.busy_until = 0.0

    def _enter(self, job: Job, guest: Guest) -> float:
        try:
            seconds = self.check(job, guest)
        except FormatError as error:
            raise die(error.text.strip()) from None
        job.arguments[_HELD] = True
        until = job.cluster.now + seconds
        if self.shares(guest):
            guest.shared_until = max(guest.shared_until, until)
        else:
            guest.busy_until = job.arguments[_UNTIL] = until
        return seconds


def guest_of(job: Job) -> Guest:
    """The guest that a task works on."""
    vmid = job.number("vmid")
    guest = job.cluster.state.guests.get(vmid)
    kind = guest.kind if guest is not None else "qemu"
    return job.cluster.guest(job.task.node, vmid, kind)


def is_inside(job: Job) -> bool:
    """Whether a task has the lock and does what it is for."""
    return _HELD in job.arguments


def host_of(job: Job) -> Host:
    """The host that a task runs on."""
    return job.cluster.state.hosts[job.task.node]


def refuse_locked(cluster: Cluster, guest: Guest, *, skip: bool = False) -> None:
    """Refuse a guest that another task works on, unless somebody insists."""
    if not skip:
        cluster.refuse_locked(guest)


_AND_A_LITTLE = 0.01
"""Seconds after which the one before is through for sure."""


def when_unlocked(call: Call, act: Callable[[], object], kind: str = "qemu") -> object:
    """Do something with the guest as soon as nobody works on it, or give up."""
    guest = call.guest(kind)
    wait = seconds_locked(guest, call.now)
    if not wait:
        return act()

    def later() -> object:
        if seconds_locked(guest, call.now):
            raise lock_timeout(guest)
        return act()

    return Deferred(min(wait + _AND_A_LITTLE, PATIENCE), later)
