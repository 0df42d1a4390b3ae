"""Templates: made, kept as they should be, and replaced when version or schematic change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.model.problem import Problems
from stockman.planning.change import ChangeKind, ProxmoxChange, storage_lane
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.templates import problems as say
from stockman.planning.templates.desired import find_own_templates
from stockman.planning.vm.checks import initial_disk_usage, needs_creation
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.difference import guest_difference
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig
from stockman.steps.step import Stage, Step
from stockman.steps.vm.configure import ConfigureVm
from stockman.steps.vm.create import CreateVm
from stockman.steps.vm.disks import GIB
from stockman.steps.vm.gates import HostOnline, ProxmoxQuorum, StorageSpace, VmidFreeOrOwned
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.template import ConvertToTemplate, DeleteTemplate, is_template

_DISK = 16 * GIB
"""More than the image of any node takes up."""
_WITHOUT = ("lvm", "iscsi", "iscsidirect")
"""Types of storages whose disks cannot be made templates."""


def plan_template_changes(
    seen: ObservedProxmox,
    wishes: Iterable[DesiredGuest],
    needs: tuple[str, ...],
    fetched: dict[tuple[str, str], str],
) -> Iterator[ProxmoxChange]:
    """Templates that are missing, unfinished or different.

    `fetched` are steps that fetch images, by host and name of the image.
    """
    for wish in wishes:
        config = seen.config(wish.who.vmid)
        if config is None or needs_creation(seen, wish):
            image = fetched.get((str(wish.host), wish.image.name if wish.image else ""), "")
            yield _creation_change(seen, wish, (*needs, image) if image else needs)
            continue
        found = guest_difference(wish, config)
        steps: list[Step] = []
        if found.values or found.delete:
            steps.append(
                _step(
                    f"vms/configure/{_template_key(wish)}",
                    ConfigureVm(
                        vm=wish.who, host=wish.host, values=found.values, delete=found.delete
                    ),
                    "; ".join(found.reasons),
                    needs,
                )
            )
        if not is_template(config):
            before = tuple(step.id for step in steps) or needs
            steps.append(_conversion_step(wish, before))
        if steps:
            yield _change(wish, ChangeKind.CHANGE, steps[-1].reason, tuple(steps))


def check_templates(seen: ObservedProxmox, new: Iterable[DesiredGuest], problems: Problems) -> None:
    """Report storages that have no templates."""
    for wish in new:
        there = seen.storage(wish.host, wish.datastore)
        if there is not None and there.kind in _WITHOUT:
            told = (str(wish.datastore), there.kind, str(wish.host))
            say.unsuitable_template_storage(
                problems, wish.who.name, told, wish.source.where("datastore")
            )


def plan_template_removals(
    seen: ObservedProxmox,
    owner: str,
    wishes: Iterable[DesiredGuest],
    needs: tuple[str, ...],
    problems: Problems,
) -> Iterator[ProxmoxChange]:
    """Templates that nobody wishes for any more, once those that follow them are there.

    One that disks depend on stays, and so does one of which that is not known.
    """
    kept = {wish.who.vmid for wish in wishes}
    for guest, config in find_own_templates(seen, owner):
        if guest.vmid in kept:
            continue
        clones = seen.clones.get(guest.vmid)
        if not seen.is_online(guest.host) or not isinstance(clones, Fact):
            say.template_unreadable(problems, guest.vmid, config.name, guest.host)
        elif clones.value:
            say.template_stays(problems, guest.vmid, config.name, clones.value)
        else:
            yield _removal_change(seen.name, guest, config, needs)


def _creation_change(
    seen: ObservedProxmox, wish: DesiredGuest, needs: tuple[str, ...]
) -> ProxmoxChange:
    region = wish.who.cluster
    storage = seen.storage(wish.host, wish.datastore)
    lane = storage_lane(
        region, wish.datastore, wish.host, shared=storage is not None and storage.shared
    )
    why = f"{wish.host} has no template of this version and schematic"
    create = Step(
        id=f"vms/create/{_template_key(wish)}",
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
            VmidFreeOrOwned(vm=wish.who, host=wish.host, storage=wish.datastore),
            StorageSpace(
                cluster=region,
                host=wish.host,
                storage=wish.datastore,
                bytes=initial_disk_usage(storage.kind if storage else "", _DISK),
            ),
        ),
        needs=needs,
        deadline=1800.0,
        lanes=(lane, f"host/{region}/{wish.host}"),
        seconds=30.0,
    )
    return _change(wish, ChangeKind.ADD, why, (create, _conversion_step(wish, (create.id,))))


def _conversion_step(wish: DesiredGuest, needs: tuple[str, ...]) -> Step:
    action = ConvertToTemplate(vm=wish.who, host=wish.host)
    return _step(f"vms/template/{_template_key(wish)}", action, "VMs are to be made from it", needs)


def _removal_change(
    region: str, guest: GuestSummary, config: VmConfig, needs: tuple[str, ...]
) -> ProxmoxChange:
    who = GuestIdentity(cluster=region, vmid=guest.vmid, name=config.name, uuid=config.uuid)
    action = DeleteTemplate(vm=who, host=guest.host)
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
        mark=ChangeKind.REMOVE,
        stage=Stage.VMS,
        destroys=action.destroys,
        steps=(step,),
    )


def _template_key(wish: DesiredGuest) -> str:
    """A template has its name on every host, so that its number tells which one is meant."""
    return f"{wish.who.cluster}/{wish.who.vmid}"


def _step(
    name: str, action: ConfigureVm | ConvertToTemplate, why: str, needs: tuple[str, ...]
) -> Step:
    return Step(id=name, action=action, stage=Stage.VMS, reason=why, needs=needs, seconds=2.0)


def _change(
    wish: DesiredGuest, mark: ChangeKind, why: str, steps: tuple[Step, ...]
) -> ProxmoxChange:
    return ProxmoxChange(
        region=wish.who.cluster,
        what=f"template {wish.who.vmid} ({wish.who.name}) on {wish.host}",
        why=why,
        mark=mark,
        stage=Stage.VMS,
        steps=steps,
    )
