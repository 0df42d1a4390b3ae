"""The Proxmox stages of a plan. Nothing in here makes a call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from stockman.model.desired import Desired
from stockman.model.names import Vmid
from stockman.model.problem import Problems, Severity
from stockman.model.proxmox import ProxmoxCluster
from stockman.planning.access.changes import (
    REVOKING_ACTIONS,
    access_ready_step,
    check_login,
    check_rights,
    check_token_expiry,
    check_token_not_in_use,
    list_desired_mappings,
    mapping_changes,
    mapping_hosts,
    token_changes,
)
from stockman.planning.access.desired import list_desired_tokens, stockman_privileges
from stockman.planning.access.revocation import (
    find_excess_rights,
    other_cluster_owners,
    revoke_excess_rights,
)
from stockman.planning.change import ProxmoxChange
from stockman.planning.desired import ProxmoxOptions
from stockman.planning.fact import Fact, Unknown
from stockman.planning.images import (
    ImageTarget,
    find_unused_images,
    image_targets,
    plan_image_downloads,
)
from stockman.planning.observed.proxmox import ObservedGuests, ObservedProxmox, ProxmoxQuery
from stockman.planning.templates.changes import (
    check_templates,
    plan_template_changes,
    plan_template_removals,
)
from stockman.planning.templates.desired import assign_template_vmids, build_desired_templates
from stockman.planning.templates.problems import template_host_offline
from stockman.planning.vm import problems as report
from stockman.planning.vm.checks import check_guests, is_ours, needs_creation
from stockman.planning.vm.creation import GuestDependencies, plan_creation
from stockman.planning.vm.desired import DesiredGuest, build_desired_guests, guest_owner
from stockman.planning.vm.placement import plan_ha_changes, plan_pool_changes, pool_step_id
from stockman.planning.vm.removal import (
    check_removal,
    existing_guests,
    find_removable_guests,
    find_unreachable_guests,
    plan_removal,
)
from stockman.planning.vm.seeds import find_iso_storage
from stockman.planning.vm.update import plan_halted_restart, plan_updates
from stockman.steps.access.mapping import MapDevices
from stockman.steps.digest import digest
from stockman.steps.vm.create import CreateVm
from stockman.steps.vm.destroy import DestroyVm
from stockman.steps.vm.identity import GuestIdentity

_NEWEST = 9


def proxmox_query(desired: Desired, cluster: ProxmoxCluster) -> ProxmoxQuery:
    """Return what has to be observed in a cluster."""
    guests = build_desired_guests(desired, cluster, Problems())
    templates = build_desired_templates(desired, cluster, Problems())
    tokens = list_desired_tokens(desired, cluster, _NEWEST)
    return ProxmoxQuery(
        vmids=frozenset(guest.identity.vmid for guest in guests),
        names=frozenset(guest.identity.name for guest in guests),
        image_storages=frozenset(
            guest.volume.partition(":")[0] or str(guest.image_storage)
            for guest in guests
            if guest.image_storage is not None
        )
        | frozenset(str(template.image_storage) for template in templates),
        system_storages=frozenset(
            guest.volume.partition(":")[0] for guest in guests if guest.identity.kind == "lxc"
        ),
        users=frozenset(token.user for token in tokens),
        reads_seeds=any(guest.seed for guest in guests),
        needs=stockman_privileges(desired, cluster, _NEWEST),
    )


def plan_proxmox_changes(
    desired: Desired,
    observed: Mapping[str, ObservedProxmox],
    problems: Problems,
    options: ProxmoxOptions = ProxmoxOptions(),  # noqa: B008  # a frozen record
) -> tuple[ProxmoxChange, ...]:
    """Plan all differences in the Proxmox clusters.

    With an error among the problems the changes must not be used.
    """
    changes: list[ProxmoxChange] = []
    for cluster in desired.proxmox:
        cluster_state = observed.get(str(cluster.region))
        if cluster_state is not None:
            planner = _ClusterPlanner(desired, cluster, cluster_state, problems, options)
            planner.existing = existing_guests(desired, observed)
            changes += planner.changes()
    return order_changes(changes)


def digest_touched_guests(
    observed: Mapping[str, ObservedGuests], identities: Iterable[str]
) -> dict[str, str]:
    """Return digests of the observed guests that actions touch; other identities are left out.

    So are guests that are being created: they change by themselves, and every action checks them
    first.
    """
    digests: dict[str, str] = {}
    for identity in identities:
        guest_key = guest_identity(identity)
        cluster_state = observed.get(guest_key[0]) if guest_key is not None else None
        if guest_key is None or cluster_state is None:
            continue
        config, guest = cluster_state.config(guest_key[1]), cluster_state.guest(guest_key[1])
        if guest is not None and cluster_state.is_new(guest.vmid):
            continue
        # Proxmox VE's own digest also changes with snapshots and locks.
        digests[identity] = digest(
            {
                "host": guest.host if guest is not None else None,
                "values": dict(config.values) if config is not None else None,
            }
        )
    return digests


def guest_identity(identity: str) -> tuple[str, Vmid] | None:
    """Return region and VMID of the identity of a guest. None: it is not a guest."""
    kind, _, location = identity.partition("/")
    region, _, number = location.partition("/")
    return (region, Vmid(int(number))) if kind == "vm" and number.isdigit() else None


def _sort_revocations_last(changes: list[ProxmoxChange]) -> list[ProxmoxChange]:
    """Let revocations of rights wait for all other steps of the plan."""
    every = [step.id for change in changes for step in change.steps]
    before = tuple(step_id for step_id in every if not step_id.startswith(REVOKING_ACTIONS))
    return [
        replace(
            change,
            steps=tuple(
                replace(step, needs=(*before, *step.needs))
                if step.id.startswith(REVOKING_ACTIONS)
                else step
                for step in change.steps
            ),
        )
        for change in changes
    ]


def order_changes(changes: Iterable[ProxmoxChange]) -> tuple[ProxmoxChange, ...]:
    """Let the creation of a machine wait for the deletion of all others of its name, in any
    region.

    If several are deleted, the first one keeps the usual step id and the others get their own.
    """
    going: defaultdict[str, list[str]] = defaultdict(list)
    named: list[ProxmoxChange] = []
    for change in changes:
        renamed: dict[str, str] = {}
        for step in change.steps:
            if isinstance(step.action, DestroyVm):
                if going[step.node]:
                    renamed[step.id] = f"{step.id}/{change.region}/{step.action.vm.vmid}"
                going[step.node].append(renamed.get(step.id, step.id))
        named.append(_rename_steps(change, renamed) if renamed else change)
    return tuple(
        replace(
            change,
            steps=tuple(
                replace(step, needs=tuple(dict.fromkeys((*step.needs, *going[step.node]))))
                if isinstance(step.action, CreateVm) and step.node
                else step
                for step in change.steps
            ),
        )
        for change in named
    )


def _rename_steps(change: ProxmoxChange, ids: Mapping[str, str]) -> ProxmoxChange:
    steps = tuple(
        replace(
            step,
            id=ids.get(step.id, step.id),
            needs=tuple(ids.get(need, need) for need in step.needs),
        )
        for step in change.steps
    )
    return replace(change, steps=steps)


class _ClusterPlanner:
    """Plans the changes of one cluster."""

    def __init__(
        self,
        desired: Desired,
        cluster: ProxmoxCluster,
        observed: ObservedProxmox,
        problems: Problems,
        options: ProxmoxOptions,
    ) -> None:
        self.desired = desired
        self.cluster = cluster
        self.observed = observed
        self.problems = problems
        self.options = options
        self.region = str(cluster.region)
        self.existing: Mapping[str, GuestIdentity] = {}

    def changes(self) -> list[ProxmoxChange]:
        observed = self.observed
        for unknown in observed.unknown_basics():
            self.problems.add(unknown.problem)
            return []
        for unknown in observed.unknown_surroundings():
            self.problems.add(unknown.problem)
        for unknown in observed.unknown_details():
            self.problems.add(replace(unknown.problem, severity=Severity.WARNING))
        mappings = list_desired_mappings(self.desired, self.cluster, observed)
        changes = self._access(mappings)
        if not observed.shows_guests:
            # Hidden guests are not absent; the missing privilege was just reported.
            return changes
        needs: tuple[str, ...] = ()
        ready = access_ready_step(self.region, tuple(changes))
        if ready is not None:
            needs = (ready.id,)
            last = changes[-1]
            changes[-1] = replace(last, steps=(*last.steps, ready))
        guests = build_desired_guests(self.desired, self.cluster, self.problems)
        leaving = self._leaving(guests, needs)
        gone = frozenset(vmid for vmid in leaving)
        templates = self._templates(guests)
        new = tuple(
            template for template in templates if observed.guest(template.identity.vmid) is None
        )
        mapped = mapping_hosts(mappings)
        check_guests(observed, (*guests, *new), gone, mapped, self.problems)
        check_templates(observed, new, self.problems)
        changes += leaving.values()
        changes += self._guests(guests, templates, needs)
        if self.options.prune:
            changes += find_unused_images(observed, (*guests, *templates))
        excess = find_excess_rights(self.desired, self.cluster, observed)
        if excess is not None:
            changes.append(revoke_excess_rights(excess))
        return _sort_revocations_last(changes)

    def _templates(self, guests: tuple[DesiredGuest, ...]) -> tuple[DesiredGuest, ...]:
        desired_templates = build_desired_templates(self.desired, self.cluster, self.problems)
        for template in desired_templates:
            if self.observed.has_host(template.host) and not self.observed.is_online(template.host):
                template_host_offline(self.problems, template.name, template.host)
        reached = tuple(
            template
            for template in desired_templates
            if self.observed.is_online(template.host) or not self.observed.has_host(template.host)
        )
        taken = frozenset(guest.identity.vmid for guest in guests)
        return assign_template_vmids(self.desired, self.observed, reached, taken)

    def _access(self, mappings: tuple[MapDevices, ...]) -> list[ProxmoxChange]:
        access, major = self.observed.access, self.observed.major
        if isinstance(access, Unknown):
            self.problems.add(access.problem)
        if not isinstance(access, Fact) or major is None:
            check_rights(self.desired, self.cluster, self.observed, self.problems)
            return []
        changes: list[ProxmoxChange] = []
        owners, unkept = (
            other_cluster_owners(self.observed, guest_owner(self.desired)),
            self.options.unkept,
        )
        for token in list_desired_tokens(self.desired, self.cluster, major):
            shared = check_token_not_in_use(token, access.value, unkept, owners)
            if shared is not None:
                self.problems.add(shared)
                continue
            changes += token_changes(self.observed, access.value, token, unkept, owners)
            check_token_expiry(token, access, self.problems)
            check_login(self.observed, access, token, self.problems)
        changes += mapping_changes(self.observed, mappings)
        return changes

    def _leaving(
        self, guests: tuple[DesiredGuest, ...], needs: tuple[str, ...]
    ) -> dict[Vmid, ProxmoxChange]:
        vmids = frozenset(guest.identity.vmid for guest in guests)
        names = {guest.identity.name for guest in guests}
        kept = frozenset(Vmid(guest.vmid) for guest in self.desired.guests)
        removals: dict[Vmid, ProxmoxChange] = {}
        owner = guest_owner(self.desired)
        for guest in find_unreachable_guests(self.observed, owner, vmids | kept):
            report.leftover_disk(self.problems, guest.name or "unnamed", guest.vmid, guest.host)
        for surplus in find_removable_guests(
            self.observed, owner, vmids | kept, self.existing, self.problems
        ):
            guest, config = surplus.guest, surplus.config
            if not self.observed.is_online(guest.host):
                report.leftover_disk(self.problems, config.name, guest.vmid, guest.host)
                continue
            why = "it is not in the configuration"
            if config.name in names:
                why = f"{config.name} has another vmid in the configuration"
            check_removal(surplus, self.problems)
            removals[guest.vmid] = plan_removal(surplus, owner, needs, why)
        return removals

    def _guests(
        self,
        guests: tuple[DesiredGuest, ...],
        templates: tuple[DesiredGuest, ...],
        needs: tuple[str, ...],
    ) -> list[ProxmoxChange]:
        observed = self.observed
        new = [guest for guest in (*guests, *templates) if needs_creation(observed, guest)]
        targets = image_targets(observed, new)
        changes = list(plan_image_downloads(observed, targets.values(), needs))
        fetched = {step.id for change in changes for step in change.steps}
        pools = list(plan_pool_changes(observed, guests, needs))
        made_pools = {step.id for change in pools for step in change.steps}
        changes += pools
        for desired in guests:
            pool = pool_step_id(self.region, desired.pool)
            dependencies = GuestDependencies(needs=needs, pool=pool if pool in made_pools else "")
            guest, config = (
                observed.guest(desired.identity.vmid),
                observed.config(desired.identity.vmid),
            )
            if guest is None or needs_creation(observed, desired):
                changes.append(self._creation(desired, dependencies, targets, fetched))
            elif config is not None and is_ours(desired, guest, config):
                if guest.is_halted and desired.identity.name in self.options.chosen:
                    changes.append(plan_halted_restart(desired, guest, needs))
                    continue
                changes += plan_updates(observed, desired, guest, config, needs)
        steps = {step.id for change in changes for step in change.steps}
        changes += plan_ha_changes(self.cluster, observed, guests, needs, steps)
        images = {
            (host, name): target.step
            for (name, host, _), target in targets.items()
            if target.step in fetched
        }
        template_changes = list(plan_template_changes(observed, templates, needs, images))
        after = (*needs, *(step.id for change in template_changes for step in change.steps))
        changes += template_changes
        owner = guest_owner(self.desired)
        changes += plan_template_removals(observed, owner, templates, after, self.problems)
        return changes

    def _creation(
        self,
        desired: DesiredGuest,
        dependencies: GuestDependencies,
        targets: Mapping[tuple[str, str, str], ImageTarget],
        fetched: set[str],
    ) -> ProxmoxChange:
        key = (
            desired.image.name if desired.image else "",
            str(desired.host),
            str(desired.image_storage),
        )
        target = targets.get(key)
        image = target.step if target is not None and target.step in fetched else ""
        dependencies = replace(dependencies, image=image)
        if desired.seed and self.observed.shows_storages:
            find_iso_storage(self.observed, desired, self.problems)
        return plan_creation(self.observed, desired, dependencies)
