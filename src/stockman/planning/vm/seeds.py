"""Plans the removal of NoCloud images of nodes that have their machine configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.desired import DesiredGuest, build_desired_guests
from stockman.steps.step import Stage, Step
from stockman.steps.vm.disks import drives
from stockman.steps.vm.seed import RemoveSeed, seed_prefix


def plan_seed_removals(
    desired: Desired,
    observed: Mapping[str, ObservedProxmox],
    created: Mapping[str, str],
    configured: Mapping[str, tuple[str, ...]],
) -> tuple[ProxmoxChange, ...]:
    """Plan the removal of NoCloud images.

    `created` are image volumes that this plan creates, by node; `configured` are nodes that have
    their machine configuration, with the steps of this plan that apply it.
    """
    return tuple(
        _removal(proxmox, guest, volume, configured[guest.identity.name])
        for cluster in desired.proxmox
        if (proxmox := observed.get(str(cluster.region))) is not None
        for guest in build_desired_guests(desired, cluster, Problems())
        if guest.is_node and guest.identity.name in configured
        for volume in _volumes(proxmox, guest, created)
    )


def _volumes(
    observed: ObservedProxmox, desired: DesiredGuest, created: Mapping[str, str]
) -> Iterator[str]:
    if desired.identity.name in created:
        yield created[desired.identity.name]
        return
    config = observed.config(desired.identity.vmid)
    for drive in drives(config).values() if config is not None else ():
        if drive.is_cdrom and f":iso/{seed_prefix(desired.identity.name)}" in drive.source:
            yield drive.source


def _removal(
    observed: ObservedProxmox, desired: DesiredGuest, volume: str, needs: tuple[str, ...]
) -> ProxmoxChange:
    guest = observed.guest(desired.identity.vmid)
    why = f"{desired.identity.name} has its machine configuration and no longer reads the image"
    step = Step(
        id=f"vms/unseed/{desired.identity.name}",
        action=RemoveSeed(
            vm=desired.identity,
            host=guest.host if guest is not None else desired.host,
            volume=volume,
        ),
        stage=Stage.TALOS,
        reason=why,
        needs=needs,
        node=desired.identity.name,
    )
    return ProxmoxChange(
        region=observed.name,
        what=f"NoCloud image {volume} of {desired.identity.name}",
        why=why,
        mark=ChangeKind.REMOVE,
        stage=Stage.TALOS,
        node=desired.identity.name,
        steps=(step,),
    )
