"""One Proxmox cluster, as the layers that live in it are judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cached_property

from stockman.assessment.drift.report import Author
from stockman.model.desired import Desired
from stockman.model.names import Vmid
from stockman.model.problem import Problems
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.planning.access.desired import OWN_TOKEN
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.checks import is_ours
from stockman.planning.vm.desired import DesiredGuest, build_desired_guests
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.tasks import TaskRef, TaskSummary
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.placement import ha_id


@record
class ProxmoxSide:
    """What should be in a cluster, what is, and what happened there."""

    desired: Desired
    cluster: ProxmoxCluster
    seen: ObservedProxmox
    tasks: tuple[TaskSummary, ...] = ()

    @property
    def own_user(self) -> str:
        """The user whose token is ours."""
        return (self.cluster.token_id or OWN_TOKEN).partition("!")[0]

    @cached_property
    def wishes(self) -> tuple[DesiredGuest, ...]:
        return build_desired_guests(self.desired, self.cluster, Problems())

    @property
    def is_known(self) -> bool:
        """Whether it is known which guests there are."""
        return isinstance(self.seen.resources, Fact) and isinstance(self.seen.state, Fact)

    def there(self) -> Iterator[tuple[DesiredGuest, GuestSummary, VmConfig]]:
        """Guests that are wished for, and are there as what they should be."""
        for wish in self.wishes:
            guest, config = self.seen.guest(wish.who.vmid), self.seen.config(wish.who.vmid)
            if guest is not None and config is not None and is_ours(wish, guest, config):
                yield wish, guest, config

    def unread(self, vmid: Vmid) -> Unknown | None:
        """Why the configuration of a guest is not known. None: it is."""
        found = self.seen.configs.get(vmid)
        return found if isinstance(found, Unknown) else None

    def is_looked_after(self, wish: DesiredGuest) -> bool:
        """Whether high availability may move or start a guest."""
        if wish.ha is not None and wish.ha.enabled:
            return True
        ha = self.seen.ha
        managed = ha.value.resources if isinstance(ha, Fact) else ()
        return any(one.id == ha_id(wish.who) for one in managed)


CREATE_TASKS = frozenset({"qmcreate", "qmclone", "qmrestore", "vzcreate", "vzclone", "vzrestore"})
CHANGE_TASKS = CREATE_TASKS | {
    "qmconfig",
    "resize",
    "qmmove",
    "qmrollback",
    "vzrollback",
    "move_volume",
}
MOVE_TASKS = CREATE_TASKS | {"qmigrate", "vzmigrate", "hamigrate"}
DELETE_TASKS = frozenset({"qmdestroy", "vzdestroy"})
POWER_TASKS = frozenset(
    {"qmstart", "qmstop", "qmshutdown", "vzstart", "vzstop", "vzshutdown", "hastop"}
)
_NO_TASK = (
    "no task tells: Proxmox VE changes most keys without one, and keeps old tasks for a while"
)


def task_author(
    tasks: Iterable[TaskSummary], vmid: Vmid, kinds: frozenset[str], own: str
) -> Author:
    """Who ran the newest task of these kinds; what came after one of our own left no trace.

    `own` is the user whose token is ours.
    """
    found = [
        one
        for one in tasks
        if one.subject == str(vmid) and one.kind in kinds and _succeeded(one.status)
    ]
    if not found:
        return Author(how=_NO_TASK)
    newest = max(found, key=lambda one: one.started)
    if newest.user.partition("!")[0] == own:
        return Author(how=_NO_TASK)
    host = TaskRef(upid=newest.upid).host
    return Author(
        who=_caller(newest),
        when=datetime.fromtimestamp(newest.started, UTC),
        how=f"task {newest.kind} on {host}",
    )


def _caller(task: TaskSummary) -> str:
    """The user, with the token where one was used, which only the name of the task tells."""
    return task.upid.rstrip(":").rpartition(":")[2] or task.user


def _succeeded(status: str) -> bool:
    return status == "OK" or status.startswith("WARNINGS")
