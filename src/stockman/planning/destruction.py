"""The end of a cluster: what is taken away, and what stays although it belongs to it.

Machines go by number, name and UUID, with their system disks. Data disks, backups, volumes of
Kubernetes and machines of others stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from stockman.model.desired import Desired
from stockman.model.names import Vmid
from stockman.model.problem import Problems, Severity
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.planning import problems as say
from stockman.planning.access.desired import TOKEN_COMMENT, stockman_role_names
from stockman.planning.access.problems import hidden_guests
from stockman.planning.access.revocation import other_cluster_owners
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact
from stockman.planning.images import plan_image_removals
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.stages.proxmox import order_changes
from stockman.planning.templates.changes import plan_template_removals
from stockman.planning.templates.desired import build_desired_templates, find_own_templates
from stockman.planning.vm.checks import is_ours
from stockman.planning.vm.desired import DesiredGuest, build_desired_guests, owner_of
from stockman.planning.vm.ownership import parse_mark
from stockman.planning.vm.problems import leftover_disk
from stockman.planning.vm.removal import (
    check_removal,
    find_surplus_guests,
    find_unreachable_guests,
    plan_removal,
)
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig
from stockman.steps.access.roles import DeleteRole, DeleteUser
from stockman.steps.base import Action
from stockman.steps.step import Stage, Step
from stockman.steps.vm.destroy import DestroyVm
from stockman.steps.vm.disks import drives
from stockman.steps.vm.placement import HA_COMMENT, DeleteHaGroup, DeletePool, RemoveFromHaRule
from stockman.steps.vm.seed import RemoveSeed, seed_prefix

_KARPENTER = "karpenter"


@record
class DestructionScope:
    """How much of a cluster is taken away."""

    prune: bool = False
    """Images of its nodes, too."""
    access: bool = True
    """Users, tokens and roles, too, where an administrator is there to do it."""


def plan_destruction(
    desired: Desired,
    observed: Mapping[str, ObservedProxmox],
    problems: Problems,
    extent: DestructionScope = DestructionScope(),  # noqa: B008  # a frozen record
) -> tuple[ProxmoxChange, ...]:
    """Everything that goes. With an error among the problems nothing may be done."""
    found: list[ProxmoxChange] = []
    for cluster in desired.proxmox:
        seen = observed.get(str(cluster.region))
        if seen is not None:
            found += _ClusterDestruction(desired, cluster, seen, problems, extent).changes()
    return order_changes(found)


class _ClusterDestruction:
    """The end of a cluster in one Proxmox cluster."""

    def __init__(
        self,
        desired: Desired,
        cluster: ProxmoxCluster,
        seen: ObservedProxmox,
        problems: Problems,
        extent: DestructionScope,
    ) -> None:
        self.desired = desired
        self.cluster = cluster
        self.seen = seen
        self.problems = problems
        self.extent = extent
        self.owner = owner_of(desired)
        self.region = str(cluster.region)

    def changes(self) -> list[ProxmoxChange]:
        for unknown in self.seen.unknown_basics():
            self.problems.add(unknown.problem)
            return []
        if not self.seen.shows_guests:
            hidden_guests(self.problems, self.region, self.cluster.where("token_id"))
            return []
        for unknown in self.seen.unknown_surroundings():
            self.problems.add(unknown.problem)
        for unknown in self.seen.unknown_details():
            self.problems.add(replace(unknown.problem, severity=Severity.WARNING))
        wishes = build_desired_guests(self.desired, self.cluster, Problems())
        found = list(self._guests(wishes))
        gone = tuple(step.id for change in found for step in change.steps)
        found += self._surroundings(wishes, gone)
        found += plan_template_removals(self.seen, self.owner, (), (), self.problems)
        if self.extent.prune:
            templates = build_desired_templates(self.desired, self.cluster, Problems())
            names = {one.image.name for one in wishes if one.image is not None}
            names |= {one.image.name for one in templates}
            after = tuple(step.id for change in found for step in change.steps)
            found += plan_image_removals(self.seen, names, after)
        self._said_to_stay()
        if self.extent.access:
            after = tuple(step.id for change in found for step in change.steps)
            found += self._access(after)
        return found

    def _guests(self, wishes: tuple[DesiredGuest, ...]) -> Iterator[ProxmoxChange]:
        seen, wanted = self.seen, frozenset(wish.who.vmid for wish in wishes)
        for one in find_unreachable_guests(seen, self.owner, frozenset()):
            leftover_disk(self.problems, one.name or "no name", one.vmid, one.host)
        for wish in wishes:
            guest, config = seen.guest(wish.who.vmid), seen.config(wish.who.vmid)
            if guest is None or config is None:
                continue
            if not is_ours(wish, guest, config) or not self._is_marked(config):
                say.guest_not_ours(self.problems, wish.who.called, config.name, guest.host)
                continue
            yield from self._gone(guest, config, f"{self.owner} is to be destroyed")
        kept = frozenset(Vmid(one.vmid) for one in self.desired.guests) - wanted
        for guest, config in find_surplus_guests(seen, self.owner, wanted | kept):
            why = f"it is marked as one of {self.owner}, which is to be destroyed"
            yield from self._gone(guest, config, why)

    def _is_marked(self, config: VmConfig) -> bool:
        mark = parse_mark(config.get("description"))
        return mark is not None and mark.owner == self.owner

    def _gone(self, guest: GuestSummary, config: VmConfig, why: str) -> Iterator[ProxmoxChange]:
        if not self.seen.is_online(guest.host):
            leftover_disk(self.problems, config.name, guest.vmid, guest.host)
            return
        check_removal(guest, config, self.problems)
        change = plan_removal(guest, config, self.region, (), why)
        seeds = tuple(self._seeds(guest, config, change.steps[0]))
        yield replace(change, steps=(*change.steps, *seeds))

    def _seeds(self, guest: GuestSummary, config: VmConfig, destroy: Step) -> Iterator[Step]:
        who = destroy.action.vm if isinstance(destroy.action, DestroyVm) else None
        for drive in drives(config).values():
            is_seed = drive.is_cdrom and f":iso/{seed_prefix(config.name)}" in drive.source
            if who is not None and is_seed:
                yield Step(
                    id=f"vms/unseed/{config.name}",
                    action=RemoveSeed(vm=who, host=guest.host, volume=drive.source),
                    stage=Stage.VMS,
                    reason="its machine is gone",
                    needs=(destroy.id,),
                    node=config.name,
                )

    def _surroundings(
        self, wishes: tuple[DesiredGuest, ...], gone: tuple[str, ...]
    ) -> Iterator[ProxmoxChange]:
        """Rules, groups and pools that were made for these guests."""
        named = {wish.ha.group for wish in wishes if wish.ha is not None and wish.ha.group}
        ha = self.seen.ha.value if isinstance(self.seen.ha, Fact) else None
        ids = {f"vm:{wish.who.vmid}" for wish in wishes if wish.who.kind == "qemu"}
        ids |= {f"ct:{wish.who.vmid}" for wish in wishes if wish.who.kind == "lxc"}
        for rule in ha.rules if ha is not None else ():
            mine = tuple(one for one in rule.resources if one in ids)
            if rule.name in named and mine:
                leave = RemoveFromHaRule(cluster=self.region, rule=rule.name, resources=mine)
                yield self._change(f"HA rule {rule.name}", "ha-rule", rule.name, leave, gone)
        for group in ha.groups if ha is not None else ():
            if group.name in named and group.comment == HA_COMMENT:
                drop = DeleteHaGroup(cluster=self.region, group=group.name)
                yield self._change(f"HA group {group.name}", "ha-group", group.name, drop, gone)
        pools = self.seen.pools.value if isinstance(self.seen.pools, Fact) else ()
        wanted = {wish.pool for wish in wishes}
        for pool in pools:
            if pool.name in wanted and pool.comment == HA_COMMENT:
                action = DeletePool(cluster=self.region, pool=pool.name)
                yield self._change(f"pool {pool.name}", "pool", pool.name, action, gone)

    def _change(
        self, what: str, kind: str, name: str, action: Action, needs: tuple[str, ...]
    ) -> ProxmoxChange:
        why = f"it was made for {self.owner}"
        step = Step(
            id=f"vms/drop-{kind}/{self.region}/{name}",
            action=action,
            stage=Stage.VMS,
            reason=why,
            needs=needs,
            lanes=("ha",),
            seconds=1.0,
        )
        return ProxmoxChange(
            region=self.region,
            what=what,
            why=why,
            mark=ChangeKind.REMOVE,
            stage=Stage.VMS,
            steps=(step,),
        )

    def _said_to_stay(self) -> None:
        made = [one for one in self.seen.guests() if _KARPENTER in one.tags]
        if made:
            numbers = ", ".join(str(one.vmid) for one in made)
            say.karpenter_guest_stays(self.problems, self.region, numbers)

    def _access(self, needs: tuple[str, ...]) -> Iterator[ProxmoxChange]:
        access = self.seen.access
        if not isinstance(access, Fact):
            return
        if owners := other_cluster_owners(self.seen, self.owner):
            say.access_in_use_stays(self.problems, self.region, owners)
            return
        comments = {one.id: one.comment for one in access.value.users}
        # Those too of components and devices that the files have no more.
        users = sorted(user for user, told in comments.items() if told.endswith(TOKEN_COMMENT))
        steps = [
            self._access_step(
                f"user/{self.region}/{user}", DeleteUser(cluster=self.region, user=user), needs
            )
            for user in users
        ]
        before = tuple(step.id for step in steps) or needs
        others = (rule for rule in access.value.rules if rule.holder.partition("!")[0] not in users)
        held = {rule.role for rule in others}
        known = {one.name for one in access.value.roles}
        roles = sorted(stockman_role_names() & known - held)
        steps += [
            self._access_step(
                f"role/{self.region}/{role}", DeleteRole(cluster=self.region, role=role), before
            )
            for role in roles
        ]
        if steps:
            yield ProxmoxChange(
                region=self.region,
                what=f"users {', '.join(users) or 'none'} and roles {', '.join(roles) or 'none'}",
                why=f"they were made for {self.owner}",
                mark=ChangeKind.REMOVE,
                stage=Stage.ACCESS,
                destroys="; ".join(one.action.destroys for one in steps if one.action.destroys),
                steps=tuple(steps),
            )

    def _access_step(self, name: str, action: Action, needs: tuple[str, ...]) -> Step:
        return Step(
            id=f"access/drop-{name}",
            action=action,
            stage=Stage.ACCESS,
            reason=f"it was made for {self.owner}",
            needs=needs,
            seconds=1.0,
        )


def find_remains(desired: Desired, observed: Mapping[str, ObservedProxmox]) -> tuple[str, ...]:
    """Machines and templates of a cluster that are still there, for whoever looks afterwards."""
    owner, found = owner_of(desired), []
    for seen in observed.values():
        found += [f"VM {guest.vmid}" for guest, _ in find_surplus_guests(seen, owner, frozenset())]
        found += [f"template {guest.vmid}" for guest, _ in find_own_templates(seen, owner)]
    return tuple(found)
