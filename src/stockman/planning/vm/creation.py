"""Plans the creation of a guest, from its first disk to its first start."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.model.record import record
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.checks import initial_disk_usage
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.disks import attach_disk_step, write_lane
from stockman.planning.vm.first_start import mark_incomplete, mark_new, start_step
from stockman.steps.step import Stage, Step
from stockman.steps.vm.create import CreateVm
from stockman.steps.vm.disks import GIB
from stockman.steps.vm.gates import HostOnline, ProxmoxQuorum, StorageSpace, VmidFreeOrOwned

_IMPORT_SECONDS = 30.0


@record
class GuestDependencies:
    """Steps that the steps of a guest depend on."""

    needs: tuple[str, ...] = ()
    """Steps that run before all others."""
    image: str = ""
    """Step that downloads the image. Empty: the image exists."""
    pool: str = ""
    """Step that creates the pool. Empty: the pool exists."""


def plan_creation(
    observed: ObservedProxmox, desired: DesiredGuest, dependencies: GuestDependencies
) -> ProxmoxChange:
    """Plan a guest that does not exist yet."""
    name = desired.identity.name
    steps = tuple(_creation_steps(observed, desired, dependencies))
    cores, memory = desired.values["cores"], desired.values["memory"]
    size = f"{cores} core{'' if cores == '1' else 's'}, {memory} MiB, {desired.disk_gb} GiB"
    why = f"{name} is in the configuration, and {_creation_progress(observed, desired)}"
    return ProxmoxChange(
        region=desired.identity.cluster,
        what=f"{desired.identity.label} on {desired.host}: {size}",
        why=why,
        mark=ChangeKind.ADD,
        stage=Stage.VMS,
        node=name,
        steps=steps,
    )


def _creation_progress(observed: ObservedProxmox, desired: DesiredGuest) -> str:
    """Return how far an earlier creation came."""
    if observed.guest(desired.identity.vmid) is None:
        return f"VMID {desired.identity.vmid} is free"
    if observed.is_new(desired.identity.vmid):
        return f"{desired.identity.label} has no name yet: its creation is not finished"
    lack = "has no disk yet" if desired.identity.kind == "qemu" else "is marked as unfinished"
    return f"{desired.identity.label} {lack}: its creation was interrupted"


def _creation_steps(
    observed: ObservedProxmox, desired: DesiredGuest, dependencies: GuestDependencies
) -> Iterator[Step]:
    name, region = desired.identity.name, desired.identity.cluster
    values = {**desired.values, **desired.creation_values}
    needs = tuple(filter(None, (*dependencies.needs, dependencies.image, dependencies.pool)))
    if desired.pool:
        values["pool"] = desired.pool
    values["description"] = mark_new(values["description"])
    is_container = desired.identity.kind == "lxc"
    storage = observed.storage(desired.host, desired.datastore)
    create = Step(
        id=f"vms/create/{name}",
        action=CreateVm(
            vm=desired.identity,
            host=desired.host,
            values=values,
            secrets=desired.secrets,
            disk=desired.imported_disk,
            unfinished=mark_incomplete(desired.values["description"]) if is_container else "",
        ),
        stage=Stage.VMS,
        reason=_creation_progress(observed, desired),
        gates=(
            ProxmoxQuorum(cluster=region),
            HostOnline(cluster=region, host=desired.host),
            VmidFreeOrOwned(
                vm=desired.identity,
                host=desired.host,
                storage=desired.datastore if desired.imported_disk is not None else None,
            ),
            StorageSpace(
                cluster=region,
                host=desired.host,
                storage=desired.datastore,
                bytes=initial_disk_usage(storage.kind if storage else "", desired.disk_gb * GIB),
            ),
        ),
        needs=needs,
        deadline=1800.0,
        lanes=(write_lane(observed, desired, desired.datastore), f"host/{region}/{desired.host}"),
        node=name,
        seconds=_IMPORT_SECONDS,
    )
    yield create
    before_start = [create.id]
    last = create.id
    for number in range(1, len(desired.disks) + 1):
        step = attach_disk_step(observed, desired, number, f"scsi{number}", (last,))
        last = step.id
        before_start.append(last)
        yield step
    is_first = not desired.is_node
    yield start_step(desired, desired.host, tuple(before_start), f"{name} is new", first=is_first)
