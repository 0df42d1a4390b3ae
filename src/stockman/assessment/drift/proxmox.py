"""Desired and observed state of one Proxmox cluster, and who changed its guests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cached_property

from stockman.assessment.drift.report import (
    Author,
    Correction,
    Drift,
    DriftSeverity,
    DriftValue,
    Gap,
    Layer,
)
from stockman.model.desired import Desired
from stockman.model.names import Vmid
from stockman.model.problem import Problems
from stockman.model.proxmox import OWN_TOKEN, ProxmoxCluster
from stockman.model.record import record
from stockman.planning.access.problems import hidden_guests
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.checks import is_ours, needs_creation
from stockman.planning.vm.desired import DesiredGuest, build_desired_guests, guest_owner
from stockman.planning.vm.difference import guest_difference, pending_keys
from stockman.planning.vm.problems import guest_copy
from stockman.planning.vm.removal import find_surplus_guests
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.tasks import TaskRef, TaskSummary
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.disks import GIB, disk_size
from stockman.steps.vm.ownership import Ownership, parse_mark
from stockman.steps.vm.placement import ha_id
from stockman.steps.vm.problems import creation_in_progress


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

    def author(self, desired: DesiredGuest, kinds: frozenset[str]) -> Author:
        """Return who ran the newest task of these kinds on a guest."""
        return task_author(self.tasks, desired.identity.vmid, kinds, self.own_user)

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

    def is_managed_by_ha(self, desired: DesiredGuest) -> bool:
        """Whether high availability may move or start a guest."""
        if desired.ha is not None and desired.ha.enabled:
            return True
        ha = self.observed.ha
        managed = ha.value.resources if isinstance(ha, Fact) else ()
        return any(resource.id == ha_id(desired.identity) for resource in managed)


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


_COSMETIC = frozenset({"description", "tags", "startup", "onboot"})
_GONE = "no guest has its number"


def vm_drifts(side: ProxmoxSide) -> Iterator[Drift]:
    """Return guests that are missing, differ in identity or keys, or do not run."""
    if not side.is_known:
        return
    for desired in side.desired_guests:
        guest = side.observed.guest(desired.identity.vmid)
        if guest is None:
            if side.observed.shows_guests:
                yield _missing_guest(side, desired)
            continue
        config = side.observed.config(desired.identity.vmid)
        if config is None:
            continue
        if side.observed.is_new(desired.identity.vmid):
            yield _empty_vmid(side, desired, guest)
            continue
        if not is_ours(desired, guest, config):
            yield _different_guest(side, desired, guest, config)
            continue
        if needs_creation(side.observed, desired):
            yield _incomplete_guest(side, desired)
            continue
        yield from _key_drifts(side, desired, guest, config)
    yield from _copies(side)


def _copies(side: ProxmoxSide) -> Iterator[Drift]:
    """Report guests that were restored or cloned from guests of this cluster."""
    configured = frozenset(desired.identity.vmid for desired in side.desired_guests)
    for marked in find_surplus_guests(side.observed, guest_owner(side.desired), configured):
        mark = parse_mark(marked.config.get("description"))
        if marked.ownership is not Ownership.COPY or mark is None:
            continue
        reported = Problems()
        guest_copy(reported, marked.guest, marked.config.name, f"{mark.name} (VM {mark.vmid})")
        for problem in reported:
            yield Drift(
                layer=Layer.VMS,
                subject=str(marked.guest.vmid),
                description=problem.what,
                why=problem.why,
                author=task_author(side.tasks, marked.guest.vmid, CREATE_TASKS, side.own_user),
                severity=DriftSeverity.WARNING,
                correction=Correction(command=problem.fix),
                by_hand=True,
            )


def vm_gaps(side: ProxmoxSide) -> Iterator[Gap]:
    """Return guests whose configuration could not be read or that the token cannot see."""
    for desired in side.desired_guests:
        unread = side.unreadable_reason(desired.identity.vmid)
        if unread is not None:
            yield Gap(layer=Layer.VMS, subject=desired.identity.name, problem=unread.problem)
    if side.is_known and not side.observed.shows_guests:
        hidden = Problems()
        hidden_guests(hidden, side.observed.name, side.cluster.where("token_id"))
        for problem in hidden:
            for layer in (Layer.VMS, Layer.PLACEMENT):
                yield Gap(layer=layer, subject=side.observed.name, problem=problem)


def idle_nodes(side: ProxmoxSide) -> frozenset[str]:
    """Return nodes whose VM is known not to run."""
    idle = set()
    for desired in side.desired_guests if side.is_known else ():
        guest = side.observed.guest(desired.identity.vmid)
        hidden = guest is None and not side.observed.shows_guests
        if not hidden and (guest is None or guest.status == "stopped"):
            idle.add(desired.identity.name)
    return frozenset(idle)


def _missing_guest(side: ProxmoxSide, desired: DesiredGuest) -> Drift:
    return Drift(
        layer=Layer.VMS,
        subject=desired.identity.name,
        description=f"{desired.identity.label} is not there",
        why=_GONE,
        author=side.author(desired, DELETE_TASKS | CREATE_TASKS),
        severity=DriftSeverity.CRITICAL,
        claims=(f"node:{desired.identity.name}",),
    )


def _empty_vmid(side: ProxmoxSide, desired: DesiredGuest, guest: GuestSummary) -> Drift:
    """Report a VMID that is reserved but empty: creation is in progress or was interrupted."""
    problem = creation_in_progress(
        desired.identity.kind,
        desired.identity.vmid,
        desired.identity.name,
        guest.host,
    )
    return Drift(
        layer=Layer.VMS,
        subject=desired.identity.name,
        description=f"{desired.identity.label} is not made yet",
        why="it has neither a name nor anything else: somebody makes it, or was interrupted",
        author=side.author(desired, CREATE_TASKS),
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command=problem.fix if guest.lock else ""),
        claims=(f"node:{desired.identity.name}",),
        by_hand=bool(guest.lock),
    )


def _incomplete_guest(side: ProxmoxSide, desired: DesiredGuest) -> Drift:
    state = "has no disk" if desired.identity.kind == "qemu" else "is incomplete"
    return Drift(
        layer=Layer.VMS,
        subject=desired.identity.name,
        description=f"{desired.identity.label} {state}",
        why="its creation was interrupted",
        author=side.author(desired, CREATE_TASKS | CHANGE_TASKS),
        severity=DriftSeverity.CRITICAL,
        claims=(f"node:{desired.identity.name}",),
    )


def _different_guest(
    side: ProxmoxSide, desired: DesiredGuest, guest: GuestSummary, config: VmConfig
) -> Drift:
    name, vmid = desired.identity.name, desired.identity.vmid
    values = (
        DriftValue(key="name", observed=config.name, desired=name),
        DriftValue(
            key="uuid",
            observed=str(config.uuid or "none"),
            desired=str(desired.identity.uuid),
        ),
    )
    is_renamed = config.uuid == desired.identity.uuid
    back = f"on {guest.host}: qm set {vmid} --name {name}"
    difference_text = "has another name" if is_renamed else "is another machine"
    by_hand = f"give {name} another vmid in nodes.yaml, or the machine its name and UUID back"
    return Drift(
        layer=Layer.VMS,
        subject=name,
        description=f"{desired.identity.label} {difference_text}",
        why="name, number and UUID belong together, and these are not those of the configuration",
        values=tuple(value for value in values if value.observed != value.desired),
        author=side.author(desired, CREATE_TASKS | CHANGE_TASKS),
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command=back if is_renamed else by_hand),
    )


def _key_drifts(
    side: ProxmoxSide, desired: DesiredGuest, guest: GuestSummary, config: VmConfig
) -> Iterator[Drift]:
    values = tuple(_drift_values(desired, config))
    name = desired.identity.name
    if values:
        keys = {value.key for value in values}
        yield Drift(
            layer=Layer.VMS,
            subject=name,
            description=f"{desired.identity.label} differs",
            values=values,
            author=side.author(desired, CHANGE_TASKS),
            severity=DriftSeverity.NOTICE if keys <= _COSMETIC else DriftSeverity.WARNING,
            claims=(
                *(f"vms/configure/{name}", f"vms/restart/{name}", f"vms/grow/{name}"),
                *(
                    f"vms/disk/{name}",
                    f"vms/detach/{name}",
                    f"nodes/drain/{name}",
                    f"nodes/back/{name}",
                ),
            ),
        )
    left = [
        key for key in pending_keys(desired, config) if key not in {value.key for value in values}
    ]
    if left:
        yield _pending_keys(side, desired, guest, config, left)
    if guest.status == "stopped" and desired.is_node and not _may_be_off(side, desired):
        yield Drift(
            layer=Layer.VMS,
            subject=name,
            description=f"{desired.identity.label} does not run",
            values=(DriftValue(key="status", observed="stopped", desired="running"),),
            author=side.author(desired, POWER_TASKS),
            severity=DriftSeverity.CRITICAL,
            claims=(f"vms/start/{name}",),
        )


def _pending_keys(
    side: ProxmoxSide,
    desired: DesiredGuest,
    guest: GuestSummary,
    config: VmConfig,
    keys: list[str],
) -> Drift:
    """Report changes that take effect at the next start."""
    name, vmid = desired.identity.name, desired.identity.vmid
    tool = "qm" if desired.identity.kind == "qemu" else "pct"
    return Drift(
        layer=Layer.VMS,
        subject=name,
        description=f"{desired.identity.label} waits for a restart",
        why="it was changed while it runs, and its next start reads the change",
        values=tuple(
            DriftValue(key=key, observed=config.waiting[key], desired=config.values.get(key))
            for key in keys
        ),
        author=side.author(desired, CHANGE_TASKS),
        correction=Correction(
            command=f"restart it when convenient, on {guest.host}: {tool} reboot {vmid}"
        ),
        claims=(f"vms/restart/{name}", f"nodes/drain/{name}", f"nodes/back/{name}"),
    )


def _may_be_off(side: ProxmoxSide, desired: DesiredGuest) -> bool:
    """Whether a stopped guest is fine because high availability was asked to stop it."""
    return side.is_managed_by_ha(desired) and (desired.ha is None or desired.ha.state != "started")


def _drift_values(desired: DesiredGuest, config: VmConfig) -> Iterator[DriftValue]:
    changes = guest_difference(desired, config)
    for key, value in changes.values.items():
        yield DriftValue(key=key, observed=config.values.get(key), desired=value)
    for key in changes.delete:
        yield DriftValue(key=key, observed=config.values[key], desired=None)
    for slot, gib in changes.grow.items():
        has = disk_size(config, slot) // GIB
        yield DriftValue(key=f"{slot}.size", observed=f"{has} GiB", desired=f"{gib} GiB")
    for disk in changes.attach:
        yield DriftValue(key=f"disk {disk}", observed=None, desired="there")
    for disk in changes.detach:
        yield DriftValue(key=f"disk {disk}", observed="there", desired=None)
    for path in changes.mount:
        yield DriftValue(key=f"mount {path}", observed=None, desired="there")


def placement_drifts(side: ProxmoxSide) -> Iterator[Drift]:
    """Return guests that run on another host than configured."""
    if not side.is_known:
        return
    for desired, guest, _ in side.existing_guests():
        if guest.host == desired.host or side.is_managed_by_ha(desired):
            continue
        name = desired.identity.name
        tool = "qm" if desired.identity.kind == "qemu" else "pct"
        yield Drift(
            layer=Layer.PLACEMENT,
            subject=name,
            description=f"{desired.identity.label} is on another host",
            values=(DriftValue(key="host", observed=str(guest.host), desired=str(desired.host)),),
            author=side.author(desired, MOVE_TASKS),
            correction=Correction(
                command=f"bring {guest.host} back; then, on it:"
                f" {tool} migrate {desired.identity.vmid} {desired.host}"
            ),
            claims=(f"vms/move/{name}", f"vms/carry/{name}"),
        )


def placement_gaps(side: ProxmoxSide) -> Iterator[Gap]:
    """Return pools and HA settings that could not be read."""
    for observed in (side.observed.ha, side.observed.pools):
        if isinstance(observed, Unknown):
            yield Gap(layer=Layer.PLACEMENT, subject=side.observed.name, problem=observed.problem)
