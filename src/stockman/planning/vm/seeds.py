"""Plans images with first configurations: who gets one, and when they are deleted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace

from stockman.model.desired import Desired
from stockman.model.names import Datastore, HostName
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm import problems as report
from stockman.planning.vm.checks import is_ours
from stockman.planning.vm.desired import DesiredGuest, build_desired_guests
from stockman.planning.vm.first_start import start_step
from stockman.steps.step import Stage, Step
from stockman.steps.talos.machine import TalosMachine
from stockman.steps.vm.destroy import DestroyVm
from stockman.steps.vm.disks import drives
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.ownership import GuestOwner
from stockman.steps.vm.seed import (
    DeleteSeed,
    RemoveSeed,
    SeedMachine,
    attached_seeds,
    is_marked_new,
    seed_owner,
    seed_prefix,
)


def seed_step_id(node: str) -> str:
    """Return the id of the step that delivers the first configuration of a node."""
    return f"talos/seed/{node}"


@record
class NewMachine:
    """A VM whose machine was never configured, and how it gets its configuration."""

    vm: GuestIdentity
    host: HostName
    storage: Datastore
    owner: str
    files: Mapping[str, str]
    """Files of its image besides the configuration."""
    start: Step
    """The step that starts the VM."""
    is_starting: bool = False
    """Whether the plan of the VMs has that step already."""
    needs: tuple[str, ...] = ()
    """Steps of the VM that precede its start."""
    is_created: bool = False
    """Whether this plan creates the VM."""

    def delivery(self, machine: TalosMachine, minor: str, digest: str) -> SeedMachine:
        """Return the action that delivers a configuration."""
        return SeedMachine(
            vm=self.vm,
            host=self.host,
            storage=self.storage,
            owner=self.owner,
            machine=machine,
            minor=minor,
            digest=digest,
            files=self.files,
        )


def find_new_machines(
    desired: Desired,
    observed: Mapping[str, ObservedProxmox],
    vms: Mapping[str, Step],
    known: Collection[str],
    problems: Problems,
) -> Mapping[str, NewMachine]:
    """Return the nodes whose machines were never configured; `vms` are the steps of VMs.

    `known` are nodes that Kubernetes reports as ready: they have a configuration.
    """
    machines: dict[str, NewMachine] = {}
    for cluster in desired.proxmox:
        state = observed.get(str(cluster.region))
        for guest in build_desired_guests(desired, cluster, Problems()) if state else ():
            name = guest.identity.name
            is_created = f"vms/create/{name}" in vms
            if state is None or not guest.seed:
                continue
            if not is_created and (name in known or not is_never_configured(state, guest)):
                continue
            storage = find_iso_storage(state, guest, problems)
            if storage:
                machines[name] = _new_machine(state, guest, vms, Datastore(storage), is_created)
    return machines


def is_never_configured(observed: ObservedProxmox, desired: DesiredGuest) -> bool:
    """Whether a VM exists and is marked as never configured."""
    guest = observed.guest(desired.identity.vmid)
    config = observed.config(desired.identity.vmid)
    if not desired.is_node or guest is None or config is None:
        return False
    owner = seed_owner(desired.owner)
    return is_ours(desired, guest, config) and is_marked_new(config, desired.identity, owner)


def _new_machine(
    observed: ObservedProxmox,
    desired: DesiredGuest,
    vms: Mapping[str, Step],
    storage: Datastore,
    is_created: bool,
) -> NewMachine:
    name = desired.identity.name
    guest = observed.guest(desired.identity.vmid)
    host = guest.host if guest is not None and not is_created else desired.host
    start = vms.get(f"vms/start/{name}")
    needs = tuple(step.id for step in vms.values() if step.node == name)
    return NewMachine(
        vm=desired.identity,
        host=host,
        storage=storage,
        owner=seed_owner(desired.owner),
        files=desired.seed,
        start=start or start_step(desired, host, (), f"{name} boots its configuration"),
        is_starting=start is not None,
        needs=start.needs if start is not None else needs,
        is_created=is_created,
    )


def find_iso_storage(observed: ObservedProxmox, desired: DesiredGuest, problems: Problems) -> str:
    """Return a storage of the host for ISO images. Empty: there is none, which is reported.

    Other hosts cannot read an image in a storage that is not shared.
    """
    resources = observed.resources
    storages = resources.value.storages if isinstance(resources, Fact) else ()
    fit = [
        storage
        for storage in storages
        if storage.host == desired.host
        and "iso" in storage.content
        and storage.status == "available"
    ]
    if not fit:
        report.no_iso_storage(problems, desired)
        return ""
    best = min(fit, key=lambda one: (one.shared, one.storage != desired.image_storage, one.storage))
    return str(best.storage)


@record
class SeedPlan:
    """What a plan does with images."""

    delivered: Mapping[str, str] = field(default_factory=dict)
    """Volumes that it creates, by node."""
    configured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Nodes that have their configuration, with the steps of this plan that deliver it."""
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The same nodes, with the steps after which they have joined the cluster."""


def plan_seed_removals(
    desired: Desired, observed: Mapping[str, ObservedProxmox], seeds: SeedPlan
) -> tuple[ProxmoxChange, ...]:
    """Plan the deletion of images of machines that have their configuration."""
    return tuple(
        removal
        for cluster in desired.proxmox
        if (proxmox := observed.get(str(cluster.region))) is not None
        for guest in build_desired_guests(desired, cluster, Problems())
        if guest.is_node and guest.identity.name in seeds.configured
        for removal in _removals(proxmox, guest, seeds)
    )


def _removals(
    observed: ObservedProxmox, desired: DesiredGuest, seeds: SeedPlan
) -> Iterator[ProxmoxChange]:
    name = desired.identity.name
    config = observed.config(desired.identity.vmid)
    guest = observed.guest(desired.identity.vmid)
    volumes = [seeds.delivered[name]] if name in seeds.delivered else []
    if config is not None and guest is not None and is_ours(desired, guest, config):
        volumes += attached_seeds(config, seed_owner(desired.owner), name).values()
    host = guest.host if guest is not None else desired.host
    if volumes:
        removal = RemoveSeed(vm=desired.identity, host=host, volumes=tuple(dict.fromkeys(volumes)))
        delivery = seed_step_id(name) if name in seeds.delivered else ""
        why = f"{name} has its configuration and no longer reads the image, which holds its secrets"
        what = f"{name} no longer has the image with its first configuration"
        step = _removal_step(f"vms/unseed/{name}", removal, why, seeds.configured[name])
        yield _cleanup_change(what, replace(step, cleans_up=delivery))
    if name in seeds.delivered or is_never_configured(observed, desired):
        completion = RemoveSeed(
            vm=desired.identity, host=host, volumes=(), description=desired.values["description"]
        )
        why = f"{name} has joined, and never gets another first configuration"
        step = _removal_step(f"vms/complete/{name}", completion, why, seeds.joined[name])
        yield _cleanup_change(f"{name} is marked as configured", step)


def _removal_step(step_id: str, action: RemoveSeed, why: str, needs: tuple[str, ...]) -> Step:
    return Step(
        id=step_id,
        action=action,
        stage=Stage.TALOS,
        reason=why,
        needs=needs,
        node=action.vm.name,
        seconds=1.0,
    )


def _cleanup_change(what: str, step: Step) -> ProxmoxChange:
    return ProxmoxChange(
        region=step.action.vm.cluster if isinstance(step.action, RemoveSeed) else "",
        what=what,
        why=step.reason,
        mark=ChangeKind.CHANGE,
        stage=Stage.TALOS,
        node=step.node,
        steps=(step,),
    )


def plan_unused_seed_deletion(
    observed: ObservedProxmox,
    owner: GuestOwner,
    deletions: Iterable[Step],
    planned: Collection[str] = frozenset(),
) -> Iterator[ProxmoxChange]:
    """Plan the deletion of images that no VM uses, as after an interrupted run.

    `deletions` are steps that delete VMs; `planned` are volumes that the plan creates again.
    """
    gone = {
        step.action.vm.vmid: step.id
        for step in deletions
        if isinstance(step.action, DestroyVm) and step.action.vm.cluster == observed.name
    }
    used = {
        drive.source
        for vmid, fact in observed.configs.items()
        if vmid not in gone and isinstance(fact, Fact)
        for drive in drives(fact.value).values()
    }
    why = "no VM uses it, and it holds the secrets of a machine"
    for host, volume in _stored_images(observed, seed_owner(owner)):
        if volume in used or volume in planned:
            continue
        step = Step(
            id=f"vms/delete-seed/{observed.name}/{host}/{volume}",
            action=DeleteSeed(cluster=observed.name, host=host, volume=volume),
            stage=Stage.VMS,
            reason=why,
            needs=tuple(gone.values()),
        )
        yield ProxmoxChange(
            region=observed.name,
            what=f"unused image {volume}",
            why=why,
            mark=ChangeKind.REMOVE,
            stage=Stage.VMS,
            steps=(step,),
        )


def _stored_images(observed: ObservedProxmox, owner: str) -> Iterator[tuple[HostName, str]]:
    """Return a host and the volume of each image of a cluster."""
    for place, fact in observed.seeds.items():
        for volume in fact.value if isinstance(fact, Fact) else ():
            if volume.id.partition(":iso/")[2].startswith(seed_prefix(owner)):
                yield HostName(place.partition("/")[0]), volume.id


def delivered_volumes(steps: Iterable[Step]) -> Mapping[str, str]:
    """Return the volumes that steps deliver, by node."""
    return {step.node: step.action.volume for step in steps if isinstance(step.action, SeedMachine)}
