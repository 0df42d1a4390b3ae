"""Pools and high availability of guests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator

from stockman.model.names import HostName
from stockman.model.proxmox import ProxmoxCluster
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedHa, ObservedProxmox
from stockman.planning.vm.desired import DesiredGuest
from stockman.steps.base import Action
from stockman.steps.step import Stage, Step
from stockman.steps.vm.placement import (
    AddToHaRule,
    AddToPool,
    CreateHaGroup,
    CreatePool,
    DisableHa,
    EnableHa,
    ha_id,
)

_RULES_SINCE = 9


def pool_step_id(region: str, pool: str) -> str:
    return f"vms/pool/{region}/{pool}"


def plan_pool_changes(
    seen: ObservedProxmox, wishes: Iterable[DesiredGuest], needs: tuple[str, ...]
) -> Iterator[ProxmoxChange]:
    """Pools that guests are to be in, and guests that are not in theirs."""
    wanted = [wish for wish in wishes if wish.pool]
    if not isinstance(seen.pools, Fact):
        return
    there = {one.name for one in seen.pools.value}
    for pool in sorted({wish.pool for wish in wanted} - there):
        why = "guests are to be in it"
        step = _step(
            pool_step_id(seen.name, pool), CreatePool(cluster=seen.name, pool=pool), why, needs
        )
        yield _change(seen.name, f"pool {pool}", why, ChangeKind.ADD, step)
    for wish in wanted:
        guest = seen.guest(wish.who.vmid)
        if guest is None or guest.pool == wish.pool:
            continue
        why = f"it is in {guest.pool or 'no pool'}, and {wish.pool} is asked for"
        action = AddToPool(vm=wish.who, host=guest.host, pool=wish.pool)
        before = () if wish.pool in there else (pool_step_id(seen.name, wish.pool),)
        step = _step(
            f"vms/join-pool/{wish.who.name}", action, why, (*needs, *before), wish.who.name
        )
        yield _change(
            seen.name, f"{wish.who.called} in pool {wish.pool}", why, ChangeKind.CHANGE, step
        )


def plan_ha_changes(
    cluster: ProxmoxCluster,
    seen: ObservedProxmox,
    wishes: Iterable[DesiredGuest],
    needs: tuple[str, ...],
    made: Container[str],
) -> Iterator[ProxmoxChange]:
    """Guests that high availability is to look after, and where.

    `made` are steps of the guests; what is started by one of them is looked after afterwards.
    """
    if not isinstance(seen.ha, Fact) or seen.major is None:
        return
    found, has_rules = seen.ha.value, seen.major >= _RULES_SINCE
    wanted = [wish for wish in wishes if wish.ha is not None and wish.ha.enabled]
    groups: defaultdict[str, list[DesiredGuest]] = defaultdict(list)
    for wish in wanted:
        if wish.ha is not None and wish.ha.group is not None:
            groups[wish.ha.group].append(wish)
    before: dict[str, str] = {}
    if not has_rules:
        for name in sorted(set(groups) - {one.name for one in found.groups}):
            step = _group_step(cluster, seen, name, needs)
            before[name] = step.id
            yield _change(seen.name, f"HA group {name}", step.reason, ChangeKind.ADD, step)
    resources: dict[str, str] = {}
    for wish in wanted:
        group = "" if has_rules or wish.ha is None else wish.ha.group or ""
        first = (*needs, before[group]) if group in before else needs
        start = f"vms/start/{wish.who.name}"
        first = (*first, start) if start in made else first
        for step in _resource_steps(seen, found, wish, group, first):
            resources[ha_id(wish.who)] = step.id
            what = f"{wish.who.called} under high availability"
            yield _change(seen.name, what, step.reason, ChangeKind.CHANGE, step)
    for name, members in sorted(groups.items()) if has_rules else ():
        for step in _rule_steps(cluster, seen, found, (name, members), resources):
            yield _change(seen.name, f"HA rule {name}", step.reason, ChangeKind.CHANGE, step)
    yield from _ha_removals(seen, found, wishes, needs)


def _group_step(
    cluster: ProxmoxCluster, seen: ObservedProxmox, name: str, needs: tuple[str, ...]
) -> Step:
    action = CreateHaGroup(cluster=seen.name, group=name, hosts=_hosts(cluster, seen))
    why = "guests are to be in it, and it is not there"
    return _step(f"vms/ha-group/{seen.name}/{name}", action, why, needs)


def _resource_steps(
    seen: ObservedProxmox,
    found: ObservedHa,
    wish: DesiredGuest,
    group: str,
    needs: tuple[str, ...],
) -> Iterator[Step]:
    ha = wish.ha
    if ha is None:
        return
    guest = seen.guest(wish.who.vmid)
    action = EnableHa(
        vm=wish.who,
        host=guest.host if guest is not None else wish.host,
        state=ha.state,
        max_restart=ha.max_restart,
        max_relocate=ha.max_relocate,
        group=group,
    )
    there = next((one for one in found.resources if one.id == ha_id(wish.who)), None)
    if there is not None and action.is_true_of(there):
        return
    why = "it is not looked after" if there is None else f"it is looked after as {there.state}"
    yield _step(f"vms/ha/{wish.who.name}", action, why, needs, wish.who.name)


def _rule_steps(
    cluster: ProxmoxCluster,
    seen: ObservedProxmox,
    found: ObservedHa,
    wanted: tuple[str, list[DesiredGuest]],
    resources: dict[str, str],
) -> Iterator[Step]:
    name, members = wanted
    ids = tuple(sorted(ha_id(wish.who) for wish in members))
    there = next((one for one in found.rules if one.name == name), None)
    missing = tuple(one for one in ids if there is None or one not in there.resources)
    if not missing:
        return
    action = AddToHaRule(
        cluster=seen.name, rule=name, hosts=_hosts(cluster, seen), resources=missing
    )
    why = "there is no such rule" if there is None else f"it does not name {', '.join(missing)}"
    needs = tuple(resources[one] for one in missing if one in resources)
    yield _step(f"vms/ha-rule/{seen.name}/{name}", action, why, needs)


def _ha_removals(
    seen: ObservedProxmox,
    found: ObservedHa,
    wishes: Iterable[DesiredGuest],
    needs: tuple[str, ...],
) -> Iterator[ProxmoxChange]:
    managed = {one.id for one in found.resources}
    for wish in wishes:
        if (wish.ha is None or not wish.ha.enabled) and ha_id(wish.who) in managed:
            why = "it is looked after, and the configuration does not ask for it"
            step = _step(
                f"vms/no-ha/{wish.who.name}", DisableHa(vm=wish.who), why, needs, wish.who.name
            )
            what = f"{wish.who.called} under high availability"
            yield _change(seen.name, what, why, ChangeKind.REMOVE, step)


def _hosts(cluster: ProxmoxCluster, seen: ObservedProxmox) -> tuple[HostName, ...]:
    if cluster.hosts:
        return tuple(HostName(name) for name in cluster.hosts)
    if isinstance(seen.state, Fact):
        return tuple(one.name for one in seen.state.value.members)
    return ()


def _step(name: str, action: Action, why: str, needs: tuple[str, ...], node: str = "") -> Step:
    lanes = () if isinstance(action, CreatePool | AddToPool) else ("ha",)
    return Step(
        id=name,
        action=action,
        stage=Stage.VMS,
        reason=why,
        needs=needs,
        lanes=lanes,
        node=node,
        seconds=1.0,
    )


def _change(region: str, what: str, why: str, mark: ChangeKind, step: Step) -> ProxmoxChange:
    return ProxmoxChange(
        region=region,
        what=what,
        why=why,
        mark=mark,
        stage=Stage.VMS,
        node=step.node,
        steps=(step,),
    )
