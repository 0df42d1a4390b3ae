"""Desired and observed state of one Proxmox cluster, and who changed its guests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cached_property

from stockman.assessment.drift.report import Author
from stockman.model.desired import Desired
from stockman.model.names import Vmid
from stockman.model.problem import Problems
from stockman.model.proxmox import OWN_TOKEN, ProxmoxCluster
from stockman.model.record import record
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
    """Desired state, observed state and past tasks of a Proxmox cluster."""

    desired: Desired
    cluster: ProxmoxCluster
    observed: ObservedProxmox
    tasks: tuple[TaskSummary, ...] = ()

    @property
    def own_user(self) -> str:
        """The user that owns stockman's token."""
        return (self.cluster.token_id or OWN_TOKEN).partition("!")[0]

    @cached_property
    def desired_guests(self) -> tuple[DesiredGuest, ...]:
        return build_desired_guests(self.desired, self.cluster, Problems())

    @property
    def is_known(self) -> bool:
        """Whether the list of guests could be read."""
        return isinstance(self.observed.resources, Fact) and isinstance(self.observed.state, Fact)

    def existing_guests(self) -> Iterator[tuple[DesiredGuest, GuestSummary, VmConfig]]:
        """Return desired guests that exist with the right identity."""
        for vm in self.desired_guests:
            guest, config = (
                self.observed.guest(vm.identity.vmid),
                self.observed.config(vm.identity.vmid),
            )
            if guest is not None and config is not None and is_ours(vm, guest, config):
                yield vm, guest, config

    def unreadable_reason(self, vmid: Vmid) -> Unknown | None:
        """Return why the configuration of a guest is unknown. None: it is known."""
        config = self.observed.configs.get(vmid)
        return config if isinstance(config, Unknown) else None

    def is_managed_by_ha(self, desired_guest: DesiredGuest) -> bool:
        """Whether high availability may move or start a guest."""
        if desired_guest.ha is not None and desired_guest.ha.enabled:
            return True
        ha = self.observed.ha
        managed = ha.value.resources if isinstance(ha, Fact) else ()
        return any(resource.id == ha_id(desired_guest.identity) for resource in managed)


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
    """Return who ran the newest task of these kinds.

    `own` is the user of stockman's token. A change after our own newest task left no trace.
    """
    matching = [
        task
        for task in tasks
        if task.subject == str(vmid) and task.kind in kinds and _is_success(task.status)
    ]
    if not matching:
        return Author(how=_NO_TASK)
    newest = max(matching, key=lambda task: task.started)
    if newest.user.partition("!")[0] == own:
        return Author(how=_NO_TASK)
    host = TaskRef(upid=newest.upid).host
    return Author(
        name=_caller(newest),
        when=datetime.fromtimestamp(newest.started, UTC),
        how=f"task {newest.kind} on {host}",
    )


def _caller(task: TaskSummary) -> str:
    """Return the user, and the token if one was used; only the task ID names it."""
    return task.upid.rstrip(":").rpartition(":")[2] or task.user


def _is_success(status: str) -> bool:
    return status == "OK" or status.startswith("WARNINGS")
