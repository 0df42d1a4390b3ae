"""Guests: made, changed, moved and removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.problem import Problems
from stockman.model.proxmox_strings import truth
from stockman.model.record import record
from stockman.planning.change import Mark
from stockman.planning.fact import Fact
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.proxmox_change import ProxmoxChange, storage_lane
from stockman.planning.vm_beginning import begun, is_new, marked_new, started
from stockman.planning.vm_checks import first_use
from stockman.planning.vm_difference import Difference, difference, without
from stockman.planning.vm_keys import disk_options
from stockman.planning.vm_mark import TAG, TEMPLATE_TAG, own_tags, read_mark
from stockman.planning.vm_mounts import attachment
from stockman.planning.vm_wanted import CLOUD_INIT_DRIVE, GuestWish
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps import vm_problems as work
from stockman.steps.base import Gate
from stockman.steps.step import Stage, Step
from stockman.steps.vm_configure import ConfigureVm, MoveVm
from stockman.steps.vm_create import CreateVm
from stockman.steps.vm_destroy import DestroyVm, would_be_lost
from stockman.steps.vm_disks import GIB, KEEPER, AttachDisk, DetachDisk, GrowDisk, drives
from stockman.steps.vm_gates import HostOnline, ProxmoxQuorum, StorageSpace, VmidOurs
from stockman.steps.vm_identity import Identity
from stockman.steps.vm_import import is_half_made
from stockman.steps.vm_power import RestartVm
from stockman.steps.vm_seed import PutSeed

_FILES = ("dir", "nfs", "cifs", "btrfs")
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
    if seen.is_new(wish.who.vmid):
        return f"no guest has the number {wish.who.vmid}"
    return f"{wish.who.called} has no disk yet: making it was interrupted"


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
    storage = seen.storage(wish.host, wish.datastore)
    create = Step(
        id=f"vms/create/{name}",
        action=CreateVm(
            vm=wish.who,
            host=wish.host,
            values=values,
            secrets=wish.secrets,
            disk=wish.copied,
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
        lanes=(_lane(seen, wish, wish.datastore), f"host/{region}/{wish.host}"),
        node=name,
        seconds=_IMPORT_SECONDS,
    )
    yield create
    before_start = [create.id]
    last = create.id
    for number in range(1, len(wish.disks) + 1):
        step = _attach(seen, wish, number, f"scsi{number}", (last,))
        last = step.id
        before_start.append(last)
        yield step
    start = started(wish, wish.host, tuple(before_start), f"{name} is new")
    yield start
    if not wish.is_node:
        yield begun(wish, wish.host, start)


def _grow(wish: GuestWish, slot: str, gib: int, needs: tuple[str, ...], host: HostName) -> Step:
    return Step(
        id=f"vms/grow/{wish.who.name}/{slot}",
        action=GrowDisk(vm=wish.who, host=host, disk=slot, gib=gib),
        stage=Stage.VMS,
        reason=f"{gib} GiB are asked for",
        needs=needs,
        node=wish.who.name,
        seconds=2.0,
    )


def _attach(
    seen: ObservedProxmox, wish: GuestWish, number: int, slot: str, needs: tuple[str, ...]
) -> Step:
    disk = wish.disks[number - 1]
    place = disk.datastore or wish.datastore
    volume = ""
    if disk.keep:
        there = seen.storage(wish.host, place)
        ending = ".raw" if there is not None and there.kind in _FILES else ""
        volume = f"vm-{KEEPER}-{wish.owner}-{wish.who.name}-{disk.name}{ending}"
    return Step(
        id=f"vms/disk/{wish.who.name}/{disk.name}",
        action=AttachDisk(
            vm=wish.who,
            host=wish.host,
            name=disk.name,
            slot=slot,
            storage=place,
            gib=disk.size_gb,
            volume=volume,
            options=disk_options(disk),
        ),
        stage=Stage.VMS,
        reason=f"{wish.who.name} has no disk {disk.name}",
        needs=needs,
        lanes=(_lane(seen, wish, place),),
        node=wish.who.name,
    )


def alterations(
    seen: ObservedProxmox, wish: GuestWish, guest: GuestSeen, config: VmConfig, around: Around
) -> Iterator[ProxmoxChange]:
    """What differs about a guest that is there."""
    name, last = wish.who.name, around.needs
    host = guest.host
    looked_after = wish.ha is not None and wish.ha.enabled
    if host != wish.host and not looked_after and seen.is_online(host):
        move = Step(
            id=f"vms/move/{name}",
            action=MoveVm(vm=wish.who, host=host, target=wish.host),
            stage=Stage.VMS,
            reason=f"it is on {host}, and {wish.host} is asked for",
            gates=(
                ProxmoxQuorum(cluster=wish.who.cluster),
                HostOnline(cluster=wish.who.cluster, host=wish.host),
            ),
            needs=last,
            deadline=3600.0,
            lanes=(f"host/{wish.who.cluster}/{host}", f"host/{wish.who.cluster}/{wish.host}"),
            node=name,
            seconds=60.0,
        )
        yield _change(wish, f"{wish.who.called} moves to {wish.host}", move.reason, (move,))
        last, host = (move.id,), wish.host
    found = difference(wish, config)
    never_ran = guest.status == "stopped" and is_new(config)
    if never_ran:
        found = without(found, "description")
    if guest.status == "stopped":
        # Everything is true at once, and whoever switched it off may want it so.
        found = replace(found, restart=())
    made = tuple(_alteration_steps(seen, wish, host, found, last))
    if made:
        disks = (*found.grow, *found.attach, *found.detach, *found.mount)
        keys = ", ".join((*found.values, *found.delete, *disks))
        tail = f"; needs a restart for {', '.join(found.restart)}" if found.restart else ""
        why = "; ".join(found.reasons)
        what = f"{wish.who.called}: {keys}{tail}" if keys else f"{wish.who.called}{tail[1:]}"
        yield _change(wish, what, why, made)
    wants_running = not looked_after or (wish.ha is not None and wish.ha.state == "started")
    is_whole = wish.copied is None or not is_half_made(config)
    starts = (wish.is_node or never_ran) and wants_running and is_whole
    if guest.status == "stopped" and starts:
        needs = (*last, *(step.id for step in made if not isinstance(step.action, RestartVm)))
        why = f"{name} was never started" if never_ran else f"{name} does not run"
        start = started(wish, host, needs, why)
        then = (begun(wish, host, start),) if never_ran else ()
        yield _change(wish, f"{wish.who.called} is started", start.reason, (start, *then))


def _alteration_steps(
    seen: ObservedProxmox,
    wish: GuestWish,
    host: HostName,
    found: Difference,
    needs: tuple[str, ...],
) -> Iterator[Step]:
    name, last = wish.who.name, needs
    for slot, gib in found.grow.items():
        step = _grow(wish, slot, gib, last, host)
        last = (step.id,)
        yield step
    for disk in found.detach:
        step = Step(
            id=f"vms/detach/{name}/{disk}",
            action=DetachDisk(vm=wish.who, host=host, name=disk),
            stage=Stage.VMS,
            reason=f"the configuration has no disk {disk}",
            needs=last,
            node=name,
        )
        last = (step.id,)
        yield step
    for disk, slot in found.attach.items():
        number = [one.name for one in wish.disks].index(disk) + 1
        step = _attach(seen, wish, number, slot, last)
        last = (step.id,)
        yield step
    for path, slot in found.mount.items():
        step = Step(
            id=f"vms/mount/{name}/{slot}",
            action=attachment(wish, host, path, slot),
            stage=Stage.VMS,
            reason=f"nothing is mounted at {path}",
            gates=(HostOnline(cluster=wish.who.cluster, host=host),),
            needs=last,
            node=name,
        )
        last = (step.id,)
        yield step
    if found.values or found.delete:
        step = Step(
            id=f"vms/configure/{name}",
            action=ConfigureVm(
                vm=wish.who, host=host, values=found.values, delete=tuple(found.delete)
            ),
            stage=Stage.VMS,
            reason="; ".join(found.reasons),
            gates=(HostOnline(cluster=wish.who.cluster, host=host),),
            needs=last,
            node=name,
        )
        last = (step.id,)
        yield step
    if found.restart:
        yield Step(
            id=f"vms/restart/{name}",
            action=RestartVm(vm=wish.who, host=host, keys=found.restart),
            stage=Stage.VMS,
            reason=f"{', '.join(found.restart)} cannot change while it runs",
            needs=last,
            node=name,
            seconds=90.0,
        )


def removal(
    guest: GuestSeen, config: VmConfig, region: str, needs: tuple[str, ...], why: str
) -> ProxmoxChange:
    """A guest of ours that should not be any more."""
    mark = read_mark(config.get("description"))
    who = Identity(
        cluster=region,
        vmid=guest.vmid,
        name=config.name,
        uuid=config.uuid if guest.kind == "qemu" else None,
        kind=guest.kind,
    )
    action = DestroyVm(vm=who, host=guest.host, scratch=mark.scratch if mark is not None else ())
    gates: tuple[Gate, ...] = (
        ProxmoxQuorum(cluster=region),
        HostOnline(cluster=region, host=guest.host),
    )
    step = Step(
        id=f"vms/destroy/{config.name}",
        action=action,
        stage=Stage.VMS,
        reason=why,
        gates=gates,
        needs=needs,
        lanes=(f"host/{region}/{guest.host}",),
        node=config.name,
        seconds=15.0,
    )
    return ProxmoxChange(
        region=region,
        what=f"{who.called} on {guest.host}",
        why=f"{why}{_outliving(guest, config)}",
        mark=Mark.REMOVE,
        stage=Stage.VMS,
        destroys=action.destroys,
        node=config.name,
        steps=(step,),
    )


def _outliving(guest: GuestSeen, config: VmConfig) -> str:
    """What to say of disks that stay when a guest goes."""
    found = [
        str(drive.volume)
        for drive in drives(config).values()
        if drive.volume is not None and not drive.is_cdrom and drive.volume.owner != guest.vmid
    ]
    if not found:
        return ""
    return f"; {', '.join(found)} stay{'s' if len(found) == 1 else ''}"


def check_removal(guest: GuestSeen, config: VmConfig, problems: Problems) -> None:
    """Report what keeps a guest from being removed, before anything else is done."""
    if truth(config.get("protection", "0")):
        problems.add(work.protected(guest.vmid, config.name))
    mark = read_mark(config.get("description"))
    scratch = mark.scratch if mark is not None else ()
    if lost := tuple(would_be_lost(config, guest.vmid, scratch)):
        problems.add(work.data_disks(guest.vmid, config.name, lost))


def surplus(
    seen: ObservedProxmox, owner: str, wanted: frozenset[Vmid]
) -> Iterator[tuple[GuestSeen, VmConfig]]:
    """Guests of an owner that the configuration does not have; templates are not among them."""
    for guest in seen.guests():
        if TEMPLATE_TAG in guest.tags:
            continue
        fact = seen.configs.get(guest.vmid)
        if guest.vmid in wanted or TAG not in guest.tags or not isinstance(fact, Fact):
            continue
        mark = read_mark(fact.value.get("description"))
        if mark is not None and mark.owner == owner and mark.name == fact.value.name:
            yield guest, fact.value


def unseen(seen: ObservedProxmox, owner: str, wanted: frozenset[Vmid]) -> Iterator[GuestSeen]:
    """Guests with the tags of an owner that the configuration does not have, on hosts that do not
    answer."""
    tags = set(own_tags(owner))
    for guest in seen.guests():
        is_known = isinstance(seen.configs.get(guest.vmid), Fact)
        is_other = guest.vmid not in wanted and TEMPLATE_TAG not in guest.tags
        if is_other and not is_known and tags <= set(guest.tags):
            yield guest


def _change(wish: GuestWish, what: str, why: str, made: tuple[Step, ...]) -> ProxmoxChange:
    return ProxmoxChange(
        region=wish.who.cluster,
        what=what,
        why=why,
        mark=Mark.CHANGE,
        stage=Stage.VMS,
        node=wish.who.name,
        steps=made,
    )


def _lane(seen: ObservedProxmox, wish: GuestWish, storage: str) -> str:
    there = seen.storage(wish.host, storage)
    shared = there is not None and there.shared
    return storage_lane(wish.who.cluster, storage, wish.host, shared=shared)
