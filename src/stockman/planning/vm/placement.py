"""Plans pools and high availability (HA) of guests."""

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
    observed: ObservedProxmox, desired_guests: Iterable[DesiredGuest], needs: tuple[str, ...]
) -> Iterator[ProxmoxChange]:
    """Plan missing pools, and guests that are not in their pool."""
    pooled = [desired for desired in desired_guests if desired.pool]
    if not isinstance(observed.pools, Fact):
        return
    existing = {pool.name for pool in observed.pools.value}
    for pool in sorted({desired.pool for desired in pooled} - existing):
        why = "guests are configured to be in it"
        step = _step(
            pool_step_id(observed.name, pool),
            CreatePool(cluster=observed.name, pool=pool),
            why,
            needs,
        )
        yield _change(observed.name, f"pool {pool}", why, ChangeKind.ADD, step)
    for desired in pooled:
        guest = observed.guest(desired.identity.vmid)
        if guest is None or guest.pool == desired.pool:
            continue
        why = f"it is in {guest.pool or 'no pool'}, should be in {desired.pool}"
        action = AddToPool(vm=desired.identity, host=guest.host, pool=desired.pool)
        before = () if desired.pool in existing else (pool_step_id(observed.name, desired.pool),)
        step = _step(
            f"vms/join-pool/{desired.identity.name}",
            action,
            why,
            (*needs, *before),
            desired.identity.name,
        )
        yield _change(
            observed.name,
            f"{desired.identity.label} in pool {desired.pool}",
            why,
            ChangeKind.CHANGE,
            step,
        )


def plan_ha_changes(
    cluster: ProxmoxCluster,
    observed: ObservedProxmox,
    desired_guests: Iterable[DesiredGuest],
    needs: tuple[str, ...],
    step_ids: Container[str],
) -> Iterator[ProxmoxChange]:
    """Plan HA resources and where they may run.

    `step_ids` are steps of the guests; a guest that one of them starts becomes an HA resource
    afterwards.
    """
    if not isinstance(observed.ha, Fact) or observed.major is None:
        return
    ha, has_rules = observed.ha.value, observed.major >= _RULES_SINCE
    managed = [
        desired for desired in desired_guests if desired.ha is not None and desired.ha.enabled
    ]
    groups: defaultdict[str, list[DesiredGuest]] = defaultdict(list)
    for desired in managed:
        if desired.ha is not None and desired.ha.group is not None:
            groups[desired.ha.group].append(desired)
    before: dict[str, str] = {}
    if not has_rules:
        for name in sorted(set(groups) - {group.name for group in ha.groups}):
            step = _group_step(cluster, observed, name, needs)
            before[name] = step.id
            yield _change(observed.name, f"HA group {name}", step.reason, ChangeKind.ADD, step)
    resources: dict[str, str] = {}
    for desired in managed:
        group = "" if has_rules or desired.ha is None else desired.ha.group or ""
        first = (*needs, before[group]) if group in before else needs
        start = f"vms/start/{desired.identity.name}"
        first = (*first, start) if start in step_ids else first
        for step in _resource_steps(observed, ha, desired, group, first):
            resources[ha_id(desired.identity)] = step.id
            summary = f"{desired.identity.label} managed by HA"
            yield _change(observed.name, summary, step.reason, ChangeKind.CHANGE, step)
    for name, members in sorted(groups.items()) if has_rules else ():
        for step in _rule_steps(cluster, observed, ha, (name, members), resources):
            yield _change(observed.name, f"HA rule {name}", step.reason, ChangeKind.CHANGE, step)
    yield from _ha_removals(observed, ha, desired_guests, needs)


def _group_step(
    cluster: ProxmoxCluster, observed: ObservedProxmox, name: str, needs: tuple[str, ...]
) -> Step:
    action = CreateHaGroup(cluster=observed.name, group=name, hosts=_hosts(cluster, observed))
    why = "guests are configured to be in it, and it does not exist"
    return _step(f"vms/ha-group/{observed.name}/{name}", action, why, needs)


def _resource_steps(
    observed: ObservedProxmox,
    ha_state: ObservedHa,
    desired: DesiredGuest,
    group: str,
    needs: tuple[str, ...],
) -> Iterator[Step]:
    ha = desired.ha
    if ha is None:
        return
    guest = observed.guest(desired.identity.vmid)
    action = EnableHa(
        vm=desired.identity,
        host=guest.host if guest is not None else desired.host,
        state=ha.state,
        max_restart=ha.max_restart,
        max_relocate=ha.max_relocate,
        group=group,
    )
    resource = next(
        (resource for resource in ha_state.resources if resource.id == ha_id(desired.identity)),
        None,
    )
    if resource is not None and action.is_true_of(resource):
        return
    why = (
        "it is not managed by HA"
        if resource is None
        else f"its HA settings differ (state {resource.state})"
    )
    yield _step(f"vms/ha/{desired.identity.name}", action, why, needs, desired.identity.name)


def _rule_steps(
    cluster: ProxmoxCluster,
    observed: ObservedProxmox,
    ha: ObservedHa,
    group: tuple[str, list[DesiredGuest]],
    resources: dict[str, str],
) -> Iterator[Step]:
    name, members = group
    ids = tuple(sorted(ha_id(desired.identity) for desired in members))
    rule = next((rule for rule in ha.rules if rule.name == name), None)
    missing = tuple(resource for resource in ids if rule is None or resource not in rule.resources)
    if not missing:
        return
    action = AddToHaRule(
        cluster=observed.name, rule=name, hosts=_hosts(cluster, observed), resources=missing
    )
    why = "the rule does not exist" if rule is None else f"it does not include {', '.join(missing)}"
    needs = tuple(resources[resource] for resource in missing if resource in resources)
    yield _step(f"vms/ha-rule/{observed.name}/{name}", action, why, needs)


def _ha_removals(
    observed: ObservedProxmox,
    ha: ObservedHa,
    desired_guests: Iterable[DesiredGuest],
    needs: tuple[str, ...],
) -> Iterator[ProxmoxChange]:
    managed = {resource.id for resource in ha.resources}
    for desired in desired_guests:
        if (desired.ha is None or not desired.ha.enabled) and ha_id(desired.identity) in managed:
            why = "it is managed by HA, which is not configured"
            step = _step(
                f"vms/no-ha/{desired.identity.name}",
                DisableHa(vm=desired.identity),
                why,
                needs,
                desired.identity.name,
            )
            summary = f"{desired.identity.label} managed by HA"
            yield _change(observed.name, summary, why, ChangeKind.REMOVE, step)


def _hosts(cluster: ProxmoxCluster, observed: ObservedProxmox) -> tuple[HostName, ...]:
    if cluster.hosts:
        return tuple(HostName(name) for name in cluster.hosts)
    if isinstance(observed.state, Fact):
        return tuple(member.name for member in observed.state.value.members)
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


def _change(region: str, summary: str, why: str, mark: ChangeKind, step: Step) -> ProxmoxChange:
    return ProxmoxChange(
        region=region,
        what=summary,
        why=why,
        mark=mark,
        stage=Stage.VMS,
        node=step.node,
        steps=(step,),
    )
