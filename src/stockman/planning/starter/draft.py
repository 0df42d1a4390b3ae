"""Everything that first files say of a Proxmox cluster: what was found, and what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count

from stockman.model.compatibility import Verdict, proxmox_compatibility
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.planning.starter import problems
from stockman.planning.starter.network import (
    AddressNeeds,
    ChosenNetwork,
    NetworkOptions,
    choose_network,
)
from stockman.planning.starter.observed import StarterCluster, StarterHost
from stockman.planning.starter.sizing import (
    SHAPES,
    ClusterShape,
    MachinePlacement,
    place_machines,
    shape_for,
)
from stockman.planning.starter.storages import ChosenStorages, choose_storages
from stockman.planning.vm.ownership import own_tags

DEFAULT_NAME = "k8s"
_FIRST_BLOCK = 1000
_BLOCK = 100


@record
class DraftOptions:
    """What the user decided beforehand."""

    preset: str | None = None
    """None: by the number of hosts."""
    network: NetworkOptions = NetworkOptions()


@record
class Draft:
    """All choices but the numbers of VMs, which have to be asked for."""

    found: StarterCluster
    hosts: tuple[StarterHost, ...]
    """Those that can take machines."""
    away: tuple[tuple[str, str], ...]
    """Those that cannot: name, and why as a clause."""
    shape: ClusterShape
    shape_why: str
    placing: MachinePlacement
    storages: ChosenStorages
    network: ChosenNetwork


def build_draft(found: StarterCluster, wish: DraftOptions) -> Draft:
    """Choices that fit what was found. `Refused` where nothing does, with what to change."""
    fit = proxmox_compatibility(found.version)
    if fit.verdict is Verdict.REFUSED:
        raise Refused(problems.version_too_old(str(found.version), fit.reason))
    hosts, away = _usable_hosts(found)
    if not hosts:
        raise Refused(problems.no_host(found.away))
    if wish.preset is None:
        shape, why = shape_for(hosts)
    else:
        shape, why = SHAPES[wish.preset], "as --preset says"
    placing = place_machines(shape, hosts)
    return Draft(
        found=found,
        hosts=hosts,
        away=away,
        shape=shape,
        shape_why=why,
        placing=placing,
        storages=choose_storages(hosts, placing),
        network=choose_network(
            hosts, wish.network, AddressNeeds(count=shape.count, taken=found.addresses)
        ),
    )


def free_name(found: StarterCluster) -> str:
    """A name for the cluster that no other cluster of stockman's has on these hosts."""
    names = chain([DEFAULT_NAME], (f"{DEFAULT_NAME}-{number}" for number in count(2)))
    return next(name for name in names if not is_name_in_use(found, name))


def is_name_in_use(found: StarterCluster, name: str) -> bool:
    """Whether a cluster of this name has machines there already."""
    return own_tags(name)[-1] in found.tags


def free_vmid_blocks(taken: frozenset[int], lowest: int, length: int) -> Sequence[int]:
    """Numbers that blocks of VMs could begin with, as far as is seen; the lowest first."""
    start = -(-max(_FIRST_BLOCK, lowest) // _BLOCK) * _BLOCK
    last = max((start, *taken)) + 2 * _BLOCK
    return [
        at
        for at in range(start, last + 1, _BLOCK)
        if not any(number in taken for number in range(at, at + length))
    ]


def _usable_hosts(
    found: StarterCluster,
) -> tuple[tuple[StarterHost, ...], tuple[tuple[str, str], ...]]:
    """Hosts with something to build on; all of them where none has, so that it can be told."""
    lacking = {host.name: _lacking(host) for host in found.hosts}
    usable = tuple(host for host in found.hosts if not lacking[host.name])
    if not usable:
        return found.hosts, found.away
    away = [(str(name), why) for name, why in lacking.items() if why]
    return usable, (*found.away, *away)


def _lacking(host: StarterHost) -> str:
    held = [one.content for one in host.storages if one.available]
    if not any("images" in content for content in held):
        return "it has no storage for disk images"
    if not any("import" in content for content in held):
        return "it has no storage for boot images, content `import`"
    if not any(one.active for one in host.bridges):
        return "it has no bridge that is up"
    return ""
