"""Plans templates: creates missing ones, updates them and deletes those no longer configured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.model.problem import Problems
from stockman.planning.change import ChangeKind, ProxmoxChange, storage_lane
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.templates import problems as report
from stockman.planning.templates.desired import find_own_templates
from stockman.planning.vm.checks import initial_disk_usage, needs_creation
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.difference import guest_difference
from stockman.planning.vm.problems import old_mark
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig
from stockman.steps.step import Stage, Step
from stockman.steps.vm.configure import ConfigureVm
from stockman.steps.vm.create import CreateVm
from stockman.steps.vm.disks import GIB
from stockman.steps.vm.gates import HostOnline, ProxmoxQuorum, StorageSpace, VmidFreeOrOwned
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.ownership import GuestOwner, Ownership
from stockman.steps.vm.template import ConvertToTemplate, DeleteTemplate, is_template

_DISK = 16 * GIB
"""More than the image of any node needs."""
_WITHOUT = ("lvm", "iscsi", "iscsidirect")
"""Storage types whose disks cannot become templates."""


def plan_template_changes(
    observed: ObservedProxmox,
    templates: Iterable[DesiredGuest],
    needs: tuple[str, ...],
    fetched: dict[tuple[str, str], str],
) -> Iterator[ProxmoxChange]:
    """Plan templates that are missing, unfinished or different.

    `fetched` are steps that download images, by host and image name.
    """
    for desired in templates:
        config = observed.config(desired.identity.vmid)
        if config is None or needs_creation(observed, desired):
            image = fetched.get(
                (str(desired.host), desired.image.name if desired.image else ""), ""
            )
            yield _creation_change(observed, desired, (*needs, image) if image else needs)
            continue
        difference = guest_difference(desired, config)
        steps: list[Step] = []
        if difference.values or difference.delete:
            steps.append(
                _step(
                    f"vms/configure/{_template_key(desired)}",
                    ConfigureVm(
                        vm=desired.identity,
                        host=desired.host,
                        values=difference.values,
                        delete=difference.delete,
                    ),
                    "; ".join(difference.reasons),
                    needs,
                )
            )
        if not is_template(config):
            before = tuple(step.id for step in steps) or needs
            steps.append(_conversion_step(desired, before))
        if steps:
            yield _change(desired, ChangeKind.CHANGE, steps[-1].reason, tuple(steps))


def check_templates(
    observed: ObservedProxmox, new: Iterable[DesiredGuest], problems: Problems
) -> None:
    """Report storages that cannot hold templates."""
    for desired in new:
        summary = observed.storage(desired.host, desired.datastore)
        if summary is not None and summary.kind in _WITHOUT:
            storage = (str(desired.datastore), summary.kind, str(desired.host))
            report.unsuitable_template_storage(
                problems, desired.identity.name, storage, desired.source.where("datastore")
            )


def plan_template_removals(
    observed: ObservedProxmox,
    owner: GuestOwner,
    templates: Iterable[DesiredGuest],
    needs: tuple[str, ...],
    problems: Problems,
) -> Iterator[ProxmoxChange]:
    """Plan the deletion of templates that are no longer configured, after their successors exist.

    A template that disks depend on is kept, and so is one that cannot be read.
    """
    kept = {desired.identity.vmid for desired in templates}
    for guest, config, ownership in find_own_templates(observed, owner):
        if guest.vmid in kept:
            continue
        if ownership is not Ownership.OURS:
            old_mark(problems, guest, config.name)
            continue
        clones = observed.clones.get(guest.vmid)
        if not observed.is_online(guest.host) or not isinstance(clones, Fact):
            report.template_unreadable(problems, guest.vmid, config.name, guest.host)
        elif clones.value:
            report.template_stays(problems, guest.vmid, config.name, clones.value)
        else:
            yield _removal_change(observed.name, owner, guest, config, needs)


def _creation_change(
    observed: ObservedProxmox, desired: DesiredGuest, needs: tuple[str, ...]
) -> ProxmoxChange:
    region = desired.identity.cluster
    storage = observed.storage(desired.host, desired.datastore)
    lane = storage_lane(
        region, desired.datastore, desired.host, shared=storage is not None and storage.shared
    )
    why = f"{desired.host} has no template of this version and schematic"
    create = Step(
        id=f"vms/create/{_template_key(desired)}",
        action=CreateVm(
            vm=desired.identity,
            host=desired.host,
            values={**desired.values, **desired.creation_values},
            disk=desired.imported_disk,
        ),
        stage=Stage.VMS,
        reason=why,
        gates=(
            ProxmoxQuorum(cluster=region),
            HostOnline(cluster=region, host=desired.host),
            VmidFreeOrOwned(vm=desired.identity, host=desired.host, storage=desired.datastore),
            StorageSpace(
                cluster=region,
                host=desired.host,
                storage=desired.datastore,
                bytes=initial_disk_usage(storage.kind if storage else "", _DISK),
            ),
        ),
        needs=needs,
        deadline=1800.0,
        lanes=(lane, f"host/{region}/{desired.host}"),
        seconds=30.0,
    )
    return _change(desired, ChangeKind.ADD, why, (create, _conversion_step(desired, (create.id,))))


def _conversion_step(desired: DesiredGuest, needs: tuple[str, ...]) -> Step:
    action = ConvertToTemplate(vm=desired.identity, host=desired.host)
    return _step(f"vms/template/{_template_key(desired)}", action, "VMs are created from it", needs)


def _removal_change(
    region: str,
    owner: GuestOwner,
    guest: GuestSummary,
    config: VmConfig,
    needs: tuple[str, ...],
) -> ProxmoxChange:
    identity = GuestIdentity(cluster=region, vmid=guest.vmid, name=config.name, uuid=config.uuid)
    action = DeleteTemplate(vm=identity, host=guest.host, owner=owner)
    why = "no template of this version and schematic is configured"
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


def _template_key(desired: DesiredGuest) -> str:
    """Return the key of a template in step ids: its name is the same on every host, its VMID is
    not."""
    return f"{desired.identity.cluster}/{desired.identity.vmid}"


def _step(
    name: str, action: ConfigureVm | ConvertToTemplate, why: str, needs: tuple[str, ...]
) -> Step:
    return Step(id=name, action=action, stage=Stage.VMS, reason=why, needs=needs, seconds=2.0)


def _change(
    desired: DesiredGuest, mark: ChangeKind, why: str, steps: tuple[Step, ...]
) -> ProxmoxChange:
    return ProxmoxChange(
        region=desired.identity.cluster,
        what=f"template {desired.identity.vmid} ({desired.identity.name}) on {desired.host}",
        why=why,
        mark=mark,
        stage=Stage.VMS,
        steps=steps,
    )
