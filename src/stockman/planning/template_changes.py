"""Templates: made, kept as they should be, and replaced when version or schematic change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.model.problem import Problems
from stockman.planning import template_problems as say
from stockman.planning.change import Mark
from stockman.planning.fact import Fact
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.proxmox_change import ProxmoxChange, storage_lane
from stockman.planning.template_wanted import own_templates
from stockman.planning.vm_checks import first_use, is_to_be_made
from stockman.planning.vm_difference import difference
from stockman.planning.vm_wanted import GuestWish
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps.step import Stage, Step
from stockman.steps.vm_configure import ConfigureVm
from stockman.steps.vm_create import CreateVm
from stockman.steps.vm_disks import GIB
from stockman.steps.vm_gates import HostOnline, ProxmoxQuorum, StorageSpace, VmidOurs
from stockman.steps.vm_identity import Identity
from stockman.steps.vm_template import MakeTemplate, RemoveTemplate, is_template

_DISK = 16 * GIB
"""More than the image of any node takes up."""
_WITHOUT = ("lvm", "iscsi", "iscsidirect")
"""Types of storages whose disks cannot be made templates."""


def template_changes(
    seen: ObservedProxmox,
    wishes: Iterable[GuestWish],
    needs: tuple[str, ...],
    fetched: dict[tuple[str, str], str],
) -> Iterator[ProxmoxChange]:
    """Templates that are missing, unfinished or different.

    `fetched` are steps that fetch images, by host and name of the image.
    """
    for wish in wishes:
        config = seen.config(wish.who.vmid)
        if config is None or is_to_be_made(seen, wish):
            image = fetched.get((str(wish.host), wish.image.name if wish.image else ""), "")
            yield _made(seen, wish, (*needs, image) if image else needs)
            continue
        found = difference(wish, config)
        steps: list[Step] = []
        if found.values or found.delete:
            steps.append(
                _step(
                    f"vms/configure/{_key(wish)}",
                    ConfigureVm(
                        vm=wish.who, host=wish.host, values=found.values, delete=found.delete
                    ),
                    "; ".join(found.reasons),
                    needs,
                )
            )
        if not is_template(config):
            before = tuple(step.id for step in steps) or needs
            steps.append(_converted(wish, before))
        if steps:
            yield _change(wish, Mark.CHANGE, steps[-1].reason, tuple(steps))


def check_templates(seen: ObservedProxmox, new: Iterable[GuestWish], problems: Problems) -> None:
    """Report storages that have no templates."""
    for wish in new:
        there = seen.storage(wish.host, wish.datastore)
        if there is not None and there.kind in _WITHOUT:
            told = (str(wish.datastore), there.kind, str(wish.host))
            say.unfit_storage(problems, wish.who.name, told, wish.source.where("datastore"))


def template_removals(
    seen: ObservedProxmox,
    owner: str,
    wishes: Iterable[GuestWish],
    needs: tuple[str, ...],
    problems: Problems,
) -> Iterator[ProxmoxChange]:
    """Templates that nobody wishes for any more, once those that follow them are there.

    One that disks depend on stays, and so does one of which that is not known.
    """
    kept = {wish.who.vmid for wish in wishes}
    for guest, config in own_templates(seen, owner):
        if guest.vmid in kept:
            continue
        clones = seen.clones.get(guest.vmid)
        if not seen.is_online(guest.host) or not isinstance(clones, Fact):
            say.template_unseen(problems, guest.vmid, config.name, guest.host)
        elif clones.value:
            say.template_stays(problems, guest.vmid, config.name, clones.value)
        else:
            yield _removed(seen.name, guest, config, needs)


def _made(seen: ObservedProxmox, wish: GuestWish, needs: tuple[str, ...]) -> ProxmoxChange:
    region = wish.who.cluster
    storage = seen.storage(wish.host, wish.datastore)
    lane = storage_lane(
        region, wish.datastore, wish.host, shared=storage is not None and storage.shared
    )
    why = f"{wish.host} has no template of this version and schematic"
    create = Step(
        id=f"vms/create/{_key(wish)}",
        action=CreateVm(
            vm=wish.who,
            host=wish.host,
            values={**wish.values, **wish.made_with},
            disk=wish.copied,
        ),
        stage=Stage.VMS,
        reason=why,
        gates=(
            ProxmoxQuorum(cluster=region),
            HostOnline(cluster=region, host=wish.host),
            VmidOurs(vm=wish.who, host=wish.host, storage=wish.datastore),
            StorageSpace(
                cluster=region,
                host=wish.host,
                storage=wish.datastore,
                bytes=first_use(storage.kind if storage else "", _DISK),
            ),
        ),
        needs=needs,
        deadline=1800.0,
        lanes=(lane, f"host/{region}/{wish.host}"),
        seconds=30.0,
    )
    return _change(wish, Mark.ADD, why, (create, _converted(wish, (create.id,))))


def _converted(wish: GuestWish, needs: tuple[str, ...]) -> Step:
    action = MakeTemplate(vm=wish.who, host=wish.host)
    return _step(f"vms/template/{_key(wish)}", action, "VMs are to be made from it", needs)


def _removed(
    region: str, guest: GuestSeen, config: VmConfig, needs: tuple[str, ...]
) -> ProxmoxChange:
    who = Identity(cluster=region, vmid=guest.vmid, name=config.name, uuid=config.uuid)
    action = RemoveTemplate(vm=who, host=guest.host)
    why = "the configuration has no template of this version and schematic any more"
    step = Step(
        id=f"vms/untemplate/{region}/{guest.vmid}",
        action=action,
        stage=Stage.VMS,
        reason=why,
        gates=(ProxmoxQuorum(cluster=region), HostOnline(cluster=region, host=guest.host)),
        needs=needs,
        lanes=(f"host/{region}/{guest.host}",),
    )
    return ProxmoxChange(
        region=region,
        what=f"template {guest.vmid} ({config.name}) on {guest.host}",
        why=why,
        mark=Mark.REMOVE,
        stage=Stage.VMS,
        destroys=action.destroys,
        steps=(step,),
    )


def _key(wish: GuestWish) -> str:
    """A template has its name on every host, so that its number tells which one is meant."""
    return f"{wish.who.cluster}/{wish.who.vmid}"


def _step(name: str, action: ConfigureVm | MakeTemplate, why: str, needs: tuple[str, ...]) -> Step:
    return Step(id=name, action=action, stage=Stage.VMS, reason=why, needs=needs, seconds=2.0)


def _change(wish: GuestWish, mark: Mark, why: str, steps: tuple[Step, ...]) -> ProxmoxChange:
    return ProxmoxChange(
        region=wish.who.cluster,
        what=f"template {wish.who.vmid} ({wish.who.name}) on {wish.host}",
        why=why,
        mark=mark,
        stage=Stage.VMS,
        steps=steps,
    )
