"""A guest that is not there yet, from its first disk to its first start."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.model.names import Datastore
from stockman.model.record import record
from stockman.planning.change import Mark
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.proxmox_change import ProxmoxChange
from stockman.planning.vm_beginning import marked_new, marked_unfinished, started
from stockman.planning.vm_checks import first_use
from stockman.planning.vm_disk_steps import disk_attachment, lane_of
from stockman.planning.vm_wanted import CLOUD_INIT_DRIVE, GuestWish
from stockman.steps.step import Stage, Step
from stockman.steps.vm_create import CreateVm
from stockman.steps.vm_disks import GIB
from stockman.steps.vm_gates import HostOnline, ProxmoxQuorum, StorageSpace, VmidOurs
from stockman.steps.vm_seed import PutSeed

_IMPORT_SECONDS = 30.0


@record
class Around:
    """What the steps of a guest wait for."""

    needs: tuple[str, ...] = ()
    """Steps that come before all others."""
    image: str = ""
    """Step that fetches its image. Empty: it is there."""
    pool: str = ""
    """Step that makes its pool. Empty: it is there."""
    iso_storage: str = ""
    """Storage for an image of its own. Empty: it needs none."""


def creation(seen: ObservedProxmox, wish: GuestWish, around: Around) -> ProxmoxChange:
    """A guest that is not there."""
    name = wish.who.name
    made = tuple(_creation_steps(seen, wish, around))
    cores, memory = wish.values["cores"], wish.values["memory"]
    size = f"{cores} core{'' if cores == '1' else 's'}, {memory} MiB, {wish.disk_gb} GiB"
    because = f"; a NoCloud image tells it its network ({wish.seed.because})" if wish.seed else ""
    why = f"{name} is in the configuration, and {_begun(seen, wish)}"
    return ProxmoxChange(
        region=wish.who.cluster,
        what=f"{wish.who.called} on {wish.host}: {size}{because}",
        why=why,
        mark=Mark.ADD,
        stage=Stage.VMS,
        node=name,
        steps=made,
    )


def _begun(seen: ObservedProxmox, wish: GuestWish) -> str:
    """How far somebody came already who made it."""
    if seen.guest(wish.who.vmid) is None:
        return f"no guest has the number {wish.who.vmid}"
    if seen.is_new(wish.who.vmid):
        return f"{wish.who.called} has no name yet: somebody makes it, or was interrupted"
    lack = "has no disk yet" if wish.who.kind == "qemu" else "says that it is unfinished"
    return f"{wish.who.called} {lack}: making it was interrupted"


def _creation_steps(seen: ObservedProxmox, wish: GuestWish, around: Around) -> Iterator[Step]:
    name, region = wish.who.name, wish.who.cluster
    values = {**wish.values, **wish.made_with}
    needs = [one for one in (*around.needs, around.image, around.pool) if one]
    if wish.seed is not None:
        seed = PutSeed(
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
        values["description"] = marked_new(values["description"])
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
            unfinished=marked_unfinished(wish.values["description"]) if is_container else "",
        ),
        stage=Stage.VMS,
        reason=_begun(seen, wish),
        gates=(
            ProxmoxQuorum(cluster=region),
            HostOnline(cluster=region, host=wish.host),
            VmidOurs(
                vm=wish.who,
                host=wish.host,
                storage=wish.datastore if wish.copied is not None else None,
            ),
            StorageSpace(
                cluster=region,
                host=wish.host,
                storage=wish.datastore,
                bytes=first_use(storage.kind if storage else "", wish.disk_gb * GIB),
            ),
        ),
        needs=tuple(needs),
        deadline=1800.0,
        lanes=(lane_of(seen, wish, wish.datastore), f"host/{region}/{wish.host}"),
        node=name,
        seconds=_IMPORT_SECONDS,
    )
    yield create
    before_start = [create.id]
    last = create.id
    for number in range(1, len(wish.disks) + 1):
        step = disk_attachment(seen, wish, number, f"scsi{number}", (last,))
        last = step.id
        before_start.append(last)
        yield step
    is_first = not wish.is_node
    yield started(wish, wish.host, tuple(before_start), f"{name} is new", first=is_first)
