"""Plans the deletion of managed guests that are no longer configured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_interface

from stockman.model.desired import Desired
from stockman.model.names import MachineAddress, Vmid
from stockman.model.problem import Problems
from stockman.model.proxmox_values import parse_flag
from stockman.model.record import record
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact
from stockman.planning.observed.kubernetes import ObservedKubernetes
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm import problems as report
from stockman.planning.vm.desired import build_desired_guests, guest_owner
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig
from stockman.steps.base import Gate
from stockman.steps.step import Stage, Step
from stockman.steps.vm import problems as vm_problems
from stockman.steps.vm.destroy import DestroyVm, disks_lost_with
from stockman.steps.vm.disks import drives
from stockman.steps.vm.gates import HostOnline, ProxmoxQuorum
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.ownership import (
    TEMPLATE_TAG,
    GuestOwner,
    Ownership,
    own_tags,
    ownership_of,
    parse_mark,
)


def observed_identity(region: str, guest: GuestSummary, config: VmConfig) -> GuestIdentity:
    """Return the identity that a guest has now."""
    return GuestIdentity(
        cluster=region,
        vmid=guest.vmid,
        name=config.name,
        uuid=config.uuid if guest.kind == "qemu" else None,
        kind=guest.kind,
    )


@record
class MarkedGuest:
    """An existing guest with the mark of this cluster."""

    guest: GuestSummary
    config: VmConfig
    identity: GuestIdentity
    """The identity that it has now."""
    ownership: Ownership


def plan_removal(
    marked: MarkedGuest, owner: GuestOwner, needs: tuple[str, ...], why: str
) -> ProxmoxChange:
    """Plan the deletion of a guest that is proven to be ours."""
    guest, config, identity = marked.guest, marked.config, marked.identity
    mark = parse_mark(config.get("description"))
    region = identity.cluster
    action = DestroyVm(
        vm=identity,
        host=guest.host,
        owner=owner,
        scratch=mark.scratch if mark is not None else (),
    )
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
        what=f"{identity.label} on {guest.host}",
        why=f"{why}{_kept_disks_text(guest, config)}",
        mark=ChangeKind.REMOVE,
        stage=Stage.VMS,
        destroys=action.destroys,
        node=config.name,
        steps=(step,),
    )


def _kept_disks_text(guest: GuestSummary, config: VmConfig) -> str:
    """Return the note about disks that are kept when a guest is deleted."""
    volumes = [
        str(drive.volume)
        for drive in drives(config).values()
        if drive.volume is not None and not drive.is_cdrom and drive.volume.owner != guest.vmid
    ]
    if not volumes:
        return ""
    return f"; {', '.join(volumes)} {'is' if len(volumes) == 1 else 'are'} kept"


def check_removal(marked: MarkedGuest, problems: Problems) -> None:
    """Report what prevents the deletion of a guest, before anything else is done."""
    guest, config = marked.guest, marked.config
    if parse_flag(config.get("protection", "0")):
        problems.add(vm_problems.guest_protection(guest.vmid, config.name))
    mark = parse_mark(config.get("description"))
    scratch = mark.scratch if mark is not None else ()
    if lost := tuple(disks_lost_with(config, guest.vmid, scratch)):
        problems.add(vm_problems.data_disks(guest.vmid, config.name, lost))


def find_surplus_guests(
    observed: ObservedProxmox, owner: GuestOwner, kept: frozenset[Vmid]
) -> Iterator[MarkedGuest]:
    """Return guests with the mark of an owner that are not in `kept`, without templates.

    Only those whose ownership is `OURS` may be deleted.
    """
    for guest in observed.guests():
        fact = observed.configs.get(guest.vmid)
        if guest.vmid in kept or TEMPLATE_TAG in guest.tags or not isinstance(fact, Fact):
            continue
        identity = observed_identity(observed.name, guest, fact.value)
        ownership = ownership_of(owner, identity, fact.value)
        if ownership not in (Ownership.UNMARKED, Ownership.OTHER_CLUSTER):
            yield MarkedGuest(
                guest=guest, config=fact.value, identity=identity, ownership=ownership
            )


def existing_guests(
    desired: Desired, observed: Mapping[str, ObservedProxmox]
) -> dict[str, GuestIdentity]:
    """Return the configured guests that exist, in all regions, by name."""
    return {
        guest.identity.name: guest.identity
        for cluster in desired.proxmox
        if (state := observed.get(str(cluster.region))) is not None
        for guest in build_desired_guests(desired, cluster, Problems())
        if state.guest(guest.identity.vmid) is not None
    }


def find_removable_guests(
    observed: ObservedProxmox,
    owner: GuestOwner,
    kept: frozenset[Vmid],
    existing: Mapping[str, GuestIdentity],
    problems: Problems,
) -> Iterator[MarkedGuest]:
    """Return guests that are proven to be surplus guests of an owner, and report all others.

    A guest is never surplus while the configured guest of its name exists elsewhere.
    """
    for surplus in find_surplus_guests(observed, owner, kept):
        guest, config = surplus.guest, surplus.config
        mark = parse_mark(config.get("description"))
        original = mark.vmid if mark is not None else ""
        if surplus.ownership is Ownership.COPY and mark is not None:
            report.guest_copy(problems, guest, config.name, f"{mark.name} (VM {original})")
        elif surplus.ownership is Ownership.OLD_MARK:
            report.old_mark(problems, guest, config.name)
        elif config.name in existing:
            report.second_guest(problems, guest, existing[config.name])
        else:
            yield surplus


def find_unreachable_guests(
    observed: ObservedProxmox, owner: GuestOwner, kept: frozenset[Vmid]
) -> Iterator[GuestSummary]:
    """Return guests of an owner that are not in `kept`, on hosts that do not answer."""
    tags = set(own_tags(owner.name))
    for guest in observed.guests():
        is_known = isinstance(observed.configs.get(guest.vmid), Fact)
        is_other = guest.vmid not in kept and TEMPLATE_TAG not in guest.tags
        if is_other and not is_known and tags <= set(guest.tags):
            yield guest


_NETWORK = "ipconfig0"


def find_leaving_machines(
    desired: Desired,
    proxmox: Mapping[str, ObservedProxmox],
    kubernetes: ObservedKubernetes | None,
) -> dict[str, MachineAddress]:
    """Return the addresses of Talos machines that leave, by name.

    A guest that is no Node and got no address from stockman is no Talos machine.
    """
    addresses: dict[str, MachineAddress] = {}
    wanted_names = {str(node.name) for node in desired.nodes}
    for name, config in _surplus_nodes(desired, proxmox):
        if name in wanted_names:
            continue
        address = _initial_address(config) or _node_address(kubernetes, name)
        if address:
            addresses[name] = MachineAddress(address)
    return addresses


def _surplus_nodes(
    desired: Desired, proxmox: Mapping[str, ObservedProxmox]
) -> Iterator[tuple[str, VmConfig]]:
    if desired.cluster is None:
        return
    kept = {guest.vmid for guest in desired.guests}
    for cluster in desired.proxmox:
        observed = proxmox.get(str(cluster.region))
        if observed is None:
            continue
        configured = {
            guest.identity.vmid for guest in build_desired_guests(desired, cluster, Problems())
        }
        for surplus in find_surplus_guests(
            observed, guest_owner(desired), frozenset(configured | kept)
        ):
            if surplus.guest.kind == "qemu" and surplus.ownership is Ownership.OURS:
                yield surplus.config.name, surplus.config


def _initial_address(config: VmConfig) -> str:
    """Return the address that the VM was created with."""
    for setting in config.get(_NETWORK).split(","):
        key, _, value = setting.partition("=")
        if key == "ip" and value not in ("", "dhcp"):
            return str(ip_interface(value).ip)
    return ""


def _node_address(kubernetes: ObservedKubernetes | None, name: str) -> str:
    node = kubernetes.node(name) if kubernetes is not None else None
    return node.addresses[0] if node is not None and node.addresses else ""
