"""Plans the destruction of a cluster: what is deleted, and what is kept.

Machines are identified by VMID, name and UUID, and deleted with their system disks. Data disks,
backups, Kubernetes volumes and machines of others are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from stockman.model.desired import Desired
from stockman.model.names import Vmid
from stockman.model.problem import Problems, Severity
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.planning import problems as report
from stockman.planning.access.desired import TOKEN_COMMENT, stockman_role_names
from stockman.planning.access.problems import hidden_guests
from stockman.planning.access.revocation import other_cluster_owners
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact
from stockman.planning.images import plan_image_removals
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.stages.proxmox import order_changes
from stockman.planning.templates.changes import plan_template_removals
from stockman.planning.templates.desired import build_desired_templates
from stockman.planning.vm.checks import is_ours
from stockman.planning.vm.desired import DesiredGuest, build_desired_guests, guest_owner
from stockman.planning.vm.problems import leftover_disk
from stockman.planning.vm.removal import (
    MarkedGuest,
    check_removal,
    existing_guests,
    find_removable_guests,
    find_unreachable_guests,
    plan_removal,
)
from stockman.planning.vm.seeds import plan_unused_seed_deletion
from stockman.steps.access.roles import DeleteRole, DeleteUser
from stockman.steps.base import Action
from stockman.steps.step import Stage, Step
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.ownership import Ownership, ownership_of
from stockman.steps.vm.placement import HA_COMMENT, DeleteHaGroup, DeletePool, RemoveFromHaRule

_KARPENTER = "karpenter"


@record
class DestructionScope:
    """The extent of a destruction."""

    prune: bool = False
    """Also delete the images of its nodes."""
    access: bool = True
    """Also delete users, tokens and roles, if an administrator is available."""


def plan_destruction(
    desired: Desired,
    observed: Mapping[str, ObservedProxmox],
    problems: Problems,
    extent: DestructionScope = DestructionScope(),  # noqa: B008  # a frozen record
) -> tuple[ProxmoxChange, ...]:
    """Plan everything that is deleted. With an error among the problems nothing may be done."""
    changes: list[ProxmoxChange] = []
    for cluster in desired.proxmox:
        proxmox = observed.get(str(cluster.region))
        if proxmox is not None:
            destruction = _ClusterDestruction(desired, cluster, proxmox, problems, extent)
            destruction.existing = existing_guests(desired, observed)
            changes += destruction.changes()
    return order_changes(changes)


class _ClusterDestruction:
    """Plans the destruction of a cluster in one Proxmox cluster."""

    def __init__(
        self,
        desired: Desired,
        cluster: ProxmoxCluster,
        observed: ObservedProxmox,
        problems: Problems,
        extent: DestructionScope,
    ) -> None:
        self.desired = desired
        self.cluster = cluster
        self.observed = observed
        self.problems = problems
        self.extent = extent
        self.owner = guest_owner(desired)
        self.region = str(cluster.region)
        self.existing: Mapping[str, GuestIdentity] = {}

    def changes(self) -> list[ProxmoxChange]:
        for unknown in self.observed.unknown_basics():
            self.problems.add(unknown.problem)
            return []
        if not self.observed.shows_guests:
            hidden_guests(self.problems, self.region, self.cluster.where("token_id"))
            return []
        for unknown in self.observed.unknown_surroundings():
            self.problems.add(unknown.problem)
        for unknown in self.observed.unknown_details():
            self.problems.add(replace(unknown.problem, severity=Severity.WARNING))
        desired_guests = build_desired_guests(self.desired, self.cluster, Problems())
        changes = list(self._guests(desired_guests))
        deletions = [step for change in changes for step in change.steps]
        changes += plan_unused_seed_deletion(self.observed, self.owner, deletions)
        gone = tuple(step.id for change in changes for step in change.steps)
        changes += self._remove_groups(desired_guests, gone)
        changes += plan_template_removals(self.observed, self.owner, (), (), self.problems)
        if self.extent.prune:
            templates = build_desired_templates(self.desired, self.cluster, Problems())
            names = {guest.image.name for guest in desired_guests if guest.image is not None}
            names |= {template.image.name for template in templates}
            after = tuple(step.id for change in changes for step in change.steps)
            changes += plan_image_removals(self.observed, names, after)
        self._report_karpenter_guests()
        if self.extent.access:
            after = tuple(step.id for change in changes for step in change.steps)
            changes += self._access(after)
        return changes

    def _guests(self, desired_guests: tuple[DesiredGuest, ...]) -> Iterator[ProxmoxChange]:
        observed, vmids = (
            self.observed,
            frozenset(desired.identity.vmid for desired in desired_guests),
        )
        for unreachable in find_unreachable_guests(observed, self.owner, frozenset()):
            leftover_disk(
                self.problems, unreachable.name or "unnamed", unreachable.vmid, unreachable.host
            )
        for desired in desired_guests:
            guest, config = (
                observed.guest(desired.identity.vmid),
                observed.config(desired.identity.vmid),
            )
            if guest is None or config is None:
                continue
            ownership = ownership_of(self.owner, desired.identity, config)
            if is_ours(desired, guest, config) and ownership is Ownership.OLD_MARK:
                report.mark_too_old(self.problems, desired.identity.label, guest.host)
                continue
            if not is_ours(desired, guest, config) or ownership is not Ownership.OURS:
                report.guest_not_ours(
                    self.problems, desired.identity.label, config.name, guest.host
                )
                continue
            ours = MarkedGuest(
                guest=guest, config=config, identity=desired.identity, ownership=ownership
            )
            yield from self._remove_guest(ours, f"{self.owner.name} is being destroyed")
        kept = frozenset(Vmid(configured.vmid) for configured in self.desired.guests) - vmids
        for surplus in find_removable_guests(
            observed, self.owner, vmids | kept, self.existing, self.problems
        ):
            why = f"it is marked as a guest of {self.owner.name}, which is being destroyed"
            yield from self._remove_guest(surplus, why)

    def _remove_guest(self, marked: MarkedGuest, why: str) -> Iterator[ProxmoxChange]:
        guest, config = marked.guest, marked.config
        if not self.observed.is_online(guest.host):
            leftover_disk(self.problems, config.name, guest.vmid, guest.host)
            return
        check_removal(marked, self.problems)
        yield plan_removal(marked, self.owner, (), why)

    def _remove_groups(
        self, desired_guests: tuple[DesiredGuest, ...], gone: tuple[str, ...]
    ) -> Iterator[ProxmoxChange]:
        """Plan the deletion of HA rules, HA groups and pools that were created for these guests."""
        named = {
            desired.ha.group
            for desired in desired_guests
            if desired.ha is not None and desired.ha.group
        }
        ha = self.observed.ha.value if isinstance(self.observed.ha, Fact) else None
        ids = {
            f"vm:{desired.identity.vmid}"
            for desired in desired_guests
            if desired.identity.kind == "qemu"
        }
        ids |= {
            f"ct:{desired.identity.vmid}"
            for desired in desired_guests
            if desired.identity.kind == "lxc"
        }
        for rule in ha.rules if ha is not None else ():
            mine = tuple(resource for resource in rule.resources if resource in ids)
            if rule.name in named and mine and rule.comment == HA_COMMENT:
                leave = RemoveFromHaRule(cluster=self.region, rule=rule.name, resources=mine)
                yield self._change(f"HA rule {rule.name}", "ha-rule", rule.name, leave, gone)
        for group in ha.groups if ha is not None else ():
            if group.name in named and group.comment == HA_COMMENT:
                drop = DeleteHaGroup(cluster=self.region, group=group.name)
                yield self._change(f"HA group {group.name}", "ha-group", group.name, drop, gone)
        pools = self.observed.pools.value if isinstance(self.observed.pools, Fact) else ()
        pools_in_use = {desired.pool for desired in desired_guests}
        for pool in pools:
            if pool.name in pools_in_use and pool.comment == HA_COMMENT:
                action = DeletePool(cluster=self.region, pool=pool.name)
                yield self._change(f"pool {pool.name}", "pool", pool.name, action, gone)

    def _change(
        self, summary: str, kind: str, name: str, action: Action, needs: tuple[str, ...]
    ) -> ProxmoxChange:
        why = f"it was created for {self.owner.name}"
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
            what=summary,
            why=why,
            mark=ChangeKind.REMOVE,
            stage=Stage.VMS,
            steps=(step,),
        )

    def _report_karpenter_guests(self) -> None:
        guests = [guest for guest in self.observed.guests() if _KARPENTER in guest.tags]
        if guests:
            numbers = ", ".join(str(guest.vmid) for guest in guests)
            report.karpenter_guest_stays(self.problems, self.region, numbers)

    def _access(self, needs: tuple[str, ...]) -> Iterator[ProxmoxChange]:
        access = self.observed.access
        if not isinstance(access, Fact):
            return
        if owners := other_cluster_owners(self.observed, self.owner):
            report.access_in_use_stays(self.problems, self.region, owners)
            return
        comments = {user.id: user.comment for user in access.value.users}
        # Includes components and devices that are no longer in the files.
        users = sorted(
            user for user, comment in comments.items() if comment.endswith(TOKEN_COMMENT)
        )
        steps = [
            self._access_step(
                f"user/{self.region}/{user}", DeleteUser(cluster=self.region, user=user), needs
            )
            for user in users
        ]
        before = tuple(step.id for step in steps) or needs
        remaining = (
            rule for rule in access.value.rules if rule.holder.partition("!")[0] not in users
        )
        held = {rule.role for rule in remaining}
        known = {role.name for role in access.value.roles}
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
                why=f"they were created for {self.owner.name}",
                mark=ChangeKind.REMOVE,
                stage=Stage.ACCESS,
                destroys="; ".join(step.action.destroys for step in steps if step.action.destroys),
                steps=tuple(steps),
            )

    def _access_step(self, name: str, action: Action, needs: tuple[str, ...]) -> Step:
        return Step(
            id=f"access/drop-{name}",
            action=action,
            stage=Stage.ACCESS,
            reason=f"it was created for {self.owner.name}",
            needs=needs,
            seconds=1.0,
        )
