"""A guest that is not there yet, from its first disk to its first start."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.model.names import Datastore
from stockman.model.record import record
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.checks import initial_disk_usage
from stockman.planning.vm.desired import CLOUD_INIT_DRIVE, DesiredGuest
from stockman.planning.vm.disks import attach_disk_step, write_lane
from stockman.planning.vm.first_start import mark_incomplete, mark_new, start_step
from stockman.steps.step import Stage, Step
from stockman.steps.vm.create import CreateVm
from stockman.steps.vm.disks import GIB
from stockman.steps.vm.gates import HostOnline, ProxmoxQuorum, StorageSpace, VmidFreeOrOwned
from stockman.steps.vm.seed import UploadSeed

_IMPORT_SECONDS = 30.0


@record
class GuestDependencies:
    """What the steps of a guest wait for."""

    needs: tuple[str, ...] = ()
    """Steps that come before all others."""
    image: str = ""
    """Step that fetches its image. Empty: it is there."""
    pool: str = ""
    """Step that makes its pool. Empty: it is there."""
    iso_storage: str = ""
    """Storage for an image of its own. Empty: it needs none."""


def plan_creation(
    seen: ObservedProxmox, wish: DesiredGuest, around: GuestDependencies
) -> ProxmoxChange:
    """A guest that is not there."""
    name = wish.who.name
    made = tuple(_creation_steps(seen, wish, around))
    cores, memory = wish.values["cores"], wish.values["memory"]
    size = f"{cores} core{'' if cores == '1' else 's'}, {memory} MiB, {wish.disk_gb} GiB"
    because = f"; a NoCloud image tells it its network ({wish.seed.because})" if wish.seed else ""
    why = f"{name} is in the configuration, and {_creation_progress(seen, wish)}"
    return ProxmoxChange(
        region=wish.who.cluster,
        what=f"{wish.who.called} on {wish.host}: {size}{because}",
        why=why,
        mark=ChangeKind.ADD,
        stage=Stage.VMS,
        node=name,
        steps=made,
    )


def _creation_progress(seen: ObservedProxmox, wish: DesiredGuest) -> str:
    """How far somebody came already who made it."""
    if seen.guest(wish.who.vmid) is None:
        return f"no guest has the number {wish.who.vmid}"
    if seen.is_new(wish.who.vmid):
        return f"{wish.who.called} has no name yet: somebody makes it, or was interrupted"
    lack = "has no disk yet" if wish.who.kind == "qemu" else "says that it is unfinished"
    return f"{wish.who.called} {lack}: making it was interrupted"


def _creation_steps(
    seen: ObservedProxmox, wish: DesiredGuest, around: GuestDependencies
) -> Iterator[Step]:
    name, region = wish.who.name, wish.who.cluster
    values = {**wish.values, **wish.made_with}
    needs = [one for one in (*around.needs, around.image, around.pool) if one]
    if wish.seed is not None:
        seed = UploadSeed(
            cluster=region,
            host=wish.host,
            storage=Datastore(around.iso_storage),
            node=name,
            files=wish.seed.files,
            because=wish.seed.because,
        )
        values[CLOUD_INIT_DRIVE] = f"{seed.volume},media=cdrom"
        yield Step(
            id=f"vms/seed/{name}",
            action=seed,
            stage=Stage.VMS,
            reason=wish.seed.because,
            needs=around.needs,
            node=name,
        )
        needs.append(f"vms/seed/{name}")
    if wish.pool:
        values["pool"] = wish.pool
    if not wish.is_node:
        values["description"] = mark_new(values["description"])
    is_container = wish.who.kind == "lxc"
    storage = seen.storage(wish.host, wish.datastore)
    create = Step(
        id=f"vms/create/{name}",
        action=CreateVm(
            vm=wish.who,
            host=wish.host,
            values=values,
            secrets=wish.secrets,
            disk=wish.copied,
            unfinished=mark_incomplete(wish.values["description"]) if is_container else "",
        ),
        stage=Stage.VMS,
        reason=_creation_progress(seen, wish),
        gates=(
            ProxmoxQuorum(cluster=region),
            HostOnline(cluster=region, host=wish.host),
            VmidFreeOrOwned(
                vm=wish.who,
                host=wish.host,
                storage=wish.datastore if wish.copied is not None else None,
            ),
            StorageSpace(
                cluster=region,
                host=wish.host,
                storage=wish.datastore,
                bytes=initial_disk_usage(storage.kind if storage else "", wish.disk_gb * GIB),
            ),
        ),
        needs=tuple(needs),
        deadline=1800.0,
        lanes=(write_lane(seen, wish, wish.datastore), f"host/{region}/{wish.host}"),
        node=name,
        seconds=_IMPORT_SECONDS,
    )
    yield create
    before_start = [create.id]
    last = create.id
    for number in range(1, len(wish.disks) + 1):
        step = attach_disk_step(seen, wish, number, f"scsi{number}", (last,))
        last = step.id
        before_start.append(last)
        yield step
    is_first = not wish.is_node
    yield start_step(wish, wish.host, tuple(before_start), f"{name} is new", first=is_first)
