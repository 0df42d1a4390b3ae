"""The draft of the first files for a Proxmox cluster: what was observed and what was chosen."""

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
from stockman.steps.vm.ownership import own_tags

DEFAULT_NAME = "k8s"
_FIRST_BLOCK = 1000
_BLOCK = 100


@record
class DraftOptions:
    """What the user decided."""

    preset: str | None = None
    """None: chosen by the number of hosts."""
    network: NetworkOptions = NetworkOptions()


@record
class Draft:
    """All choices except for the VMIDs, which need queries."""

    observed: StarterCluster
    hosts: tuple[StarterHost, ...]
    """Hosts that can run machines."""
    away: tuple[tuple[str, str], ...]
    """Hosts that cannot: name and reason."""
    shape: ClusterShape
    shape_why: str
    placing: MachinePlacement
    storages: ChosenStorages
    network: ChosenNetwork


def build_draft(observed: StarterCluster, options: DraftOptions) -> Draft:
    """Choose what fits the observed cluster. `Refused` if nothing does."""
    fit = proxmox_compatibility(observed.version)
    if fit.verdict is Verdict.REFUSED:
        raise Refused(problems.version_too_old(str(observed.version), fit.reason))
    hosts, away = _usable_hosts(observed)
    if not hosts:
        raise Refused(problems.no_host(observed.away))
    if options.preset is None:
        shape, why = shape_for(hosts)
    else:
        shape, why = SHAPES[options.preset], "selected with --preset"
    placing = place_machines(shape, hosts)
    return Draft(
        observed=observed,
        hosts=hosts,
        away=away,
        shape=shape,
        shape_why=why,
        placing=placing,
        storages=choose_storages(hosts, placing),
        network=choose_network(
            hosts, options.network, AddressNeeds(count=shape.count, taken=observed.addresses)
        ),
    )


def free_name(observed: StarterCluster) -> str:
    """Return a cluster name that no other cluster of stockman uses on these hosts."""
    names = chain([DEFAULT_NAME], (f"{DEFAULT_NAME}-{number}" for number in count(2)))
    return next(name for name in names if not is_name_in_use(observed, name))


def is_name_in_use(observed: StarterCluster, name: str) -> bool:
    """Whether a cluster of this name already has machines."""
    return own_tags(name)[-1] in observed.tags


def free_vmid_blocks(taken: frozenset[int], lowest: int, length: int) -> Sequence[int]:
    """Return possible first VMIDs of blocks of VMs, the lowest first."""
    start = -(-max(_FIRST_BLOCK, lowest) // _BLOCK) * _BLOCK
    last = max((start, *taken)) + 2 * _BLOCK
    return [
        at
        for at in range(start, last + 1, _BLOCK)
        if not any(number in taken for number in range(at, at + length))
    ]


def _usable_hosts(
    observed: StarterCluster,
) -> tuple[tuple[StarterHost, ...], tuple[tuple[str, str], ...]]:
    """Return usable hosts; all of them if there is none, so that the reason can be reported."""
    lacking = {host.name: _lacking(host) for host in observed.hosts}
    usable = tuple(host for host in observed.hosts if not lacking[host.name])
    if not usable:
        return observed.hosts, observed.away
    away = [(str(name), why) for name, why in lacking.items() if why]
    return usable, (*observed.away, *away)


def _lacking(host: StarterHost) -> str:
    held = [entry.content for entry in host.storages if entry.available]
    if not any("images" in content for content in held):
        return "it has no storage for disk images"
    if not any("import" in content for content in held):
        return "it has no storage for boot images, content type `import`"
    if not any(entry.active for entry in host.bridges):
        return "it has no bridge that is up"
    return ""
