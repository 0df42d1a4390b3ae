"""NoCloud images that nodes no longer need: they have their configuration."""

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
    """Images to be taken out and deleted.

    `created` are volumes of images that this plan makes, by node; `configured` are nodes that have
    their configuration, with the steps of this plan that give it to them.
    """
    return tuple(
        _removal(seen, wish, volume, configured[wish.who.name])
        for cluster in desired.proxmox
        if (seen := observed.get(str(cluster.region))) is not None
        for wish in build_desired_guests(desired, cluster, Problems())
        if wish.is_node and wish.who.name in configured
        for volume in _volumes(seen, wish, created)
    )


def _volumes(
    seen: ObservedProxmox, wish: DesiredGuest, created: Mapping[str, str]
) -> Iterator[str]:
    if wish.who.name in created:
        yield created[wish.who.name]
        return
    config = seen.config(wish.who.vmid)
    for drive in drives(config).values() if config is not None else ():
        if drive.is_cdrom and f":iso/{seed_prefix(wish.who.name)}" in drive.source:
            yield drive.source


def _removal(
    seen: ObservedProxmox, wish: DesiredGuest, volume: str, needs: tuple[str, ...]
) -> ProxmoxChange:
    guest = seen.guest(wish.who.vmid)
    why = f"{wish.who.name} has its configuration and reads the image no more"
    step = Step(
        id=f"vms/unseed/{wish.who.name}",
        action=RemoveSeed(
            vm=wish.who, host=guest.host if guest is not None else wish.host, volume=volume
        ),
        stage=Stage.TALOS,
        reason=why,
        needs=needs,
        node=wish.who.name,
    )
    return ProxmoxChange(
        region=seen.name,
        what=f"NoCloud image {volume} of {wish.who.name}",
        why=why,
        mark=ChangeKind.REMOVE,
        stage=Stage.TALOS,
        node=wish.who.name,
        steps=(step,),
    )
