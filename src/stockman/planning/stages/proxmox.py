"""The Proxmox side of a plan: from what should be and what is there to changes and steps.

`asked` says what has to be observed, `changes` what differs, and `steps` (of `proxmox_change`)
what is done about it. Nothing in here makes a call.
"""

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
from stockman.planning.vm import problems as say
from stockman.planning.vm.checks import check_guests, is_ours, needs_creation
from stockman.planning.vm.creation import GuestDependencies, plan_creation
from stockman.planning.vm.desired import DesiredGuest, build_desired_guests, owner_of
from stockman.planning.vm.placement import plan_ha_changes, plan_pool_changes, pool_step_id
from stockman.planning.vm.removal import (
    check_removal,
    find_surplus_guests,
    find_unreachable_guests,
    plan_removal,
)
from stockman.planning.vm.update import plan_updates
from stockman.steps.access.mapping import MapDevices
from stockman.steps.digest import digest
from stockman.steps.vm.create import CreateVm
from stockman.steps.vm.destroy import DestroyVm

_NEWEST = 9


def proxmox_query(desired: Desired, cluster: ProxmoxCluster) -> ProxmoxQuery:
    """What has to be found out about a cluster."""
    wishes = build_desired_guests(desired, cluster, Problems())
    templates = build_desired_templates(desired, cluster, Problems())
    tokens = list_desired_tokens(desired, cluster, _NEWEST)
    return ProxmoxQuery(
        vmids=frozenset(wish.who.vmid for wish in wishes),
        image_storages=frozenset(
            wish.volume.partition(":")[0] or str(wish.image_storage)
            for wish in wishes
            if wish.image_storage is not None
        )
        | frozenset(str(wish.image_storage) for wish in templates),
        system_storages=frozenset(
            wish.volume.partition(":")[0] for wish in wishes if wish.who.kind == "lxc"
        ),
        users=frozenset(one.user for one in tokens),
        needs=stockman_privileges(desired, cluster, _NEWEST),
    )


def plan_proxmox_changes(
    desired: Desired,
    observed: Mapping[str, ObservedProxmox],
    problems: Problems,
    options: ProxmoxOptions = ProxmoxOptions(),  # noqa: B008  # a frozen record
) -> tuple[ProxmoxChange, ...]:
    """Everything that differs in the Proxmox clusters.

    With an error among the problems the changes are of no use: something stands in the way.
    """
    found: list[ProxmoxChange] = []
    for cluster in desired.proxmox:
        seen = observed.get(str(cluster.region))
        if seen is not None:
            found += _ClusterPlanner(desired, cluster, seen, problems, options).changes()
    return order_changes(found)


def digest_touched_guests(
    observed: Mapping[str, ObservedGuests], identities: Iterable[str]
) -> dict[str, str]:
    """Digests of what was seen under the identities that actions touch; others are left out.

    So are guests that somebody makes right now: they change by themselves, and whoever touches
    them looks first.
    """
    found: dict[str, str] = {}
    for identity in identities:
        place = guest_identity(identity)
        seen = observed.get(place[0]) if place is not None else None
        if place is None or seen is None:
            continue
        config, guest = seen.config(place[1]), seen.guest(place[1])
        if guest is not None and seen.is_new(guest.vmid):
            continue
        # The digest of Proxmox VE itself changes with snapshots and locks, too.
        found[identity] = digest(
            {
                "host": guest.host if guest is not None else None,
                "values": dict(config.values) if config is not None else None,
            }
        )
    return found


def guest_identity(identity: str) -> tuple[str, Vmid] | None:
    """Region and number of a guest that actions touch. None: it is none of a guest."""
    kind, _, rest = identity.partition("/")
    region, _, number = rest.partition("/")
    return (region, Vmid(int(number))) if kind == "vm" and number.isdigit() else None


def _sort_revocations_last(found: list[ProxmoxChange]) -> list[ProxmoxChange]:
    """Rights are taken away when nothing of the plan needs them any more."""
    every = [step.id for change in found for step in change.steps]
    before = tuple(one for one in every if not one.startswith(REVOKING_ACTIONS))
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
        for change in found
    ]


def order_changes(found: Iterable[ProxmoxChange]) -> tuple[ProxmoxChange, ...]:
    """Changes in which a machine is made after all others of its name are gone, in any region.

    Of several that go, each has an id of its own: the first the one that plans usually have.
    """
    going: defaultdict[str, list[str]] = defaultdict(list)
    named: list[ProxmoxChange] = []
    for change in found:
        renamed: dict[str, str] = {}
        for step in change.steps:
            if isinstance(step.action, DestroyVm):
                if going[step.node]:
                    renamed[step.id] = f"{step.id}/{change.region}/{step.action.vm.vmid}"
                going[step.node].append(renamed.get(step.id, step.id))
        named.append(_check_renames(change, renamed) if renamed else change)
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


def _check_renames(change: ProxmoxChange, ids: Mapping[str, str]) -> ProxmoxChange:
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
    """The plan of one cluster."""

    def __init__(
        self,
        desired: Desired,
        cluster: ProxmoxCluster,
        seen: ObservedProxmox,
        problems: Problems,
        options: ProxmoxOptions,
    ) -> None:
        self.desired = desired
        self.cluster = cluster
        self.seen = seen
        self.problems = problems
        self.options = options
        self.region = str(cluster.region)

    def changes(self) -> list[ProxmoxChange]:
        seen = self.seen
        for unknown in seen.unknown_basics():
            self.problems.add(unknown.problem)
            return []
        for unknown in seen.unknown_surroundings():
            self.problems.add(unknown.problem)
        for unknown in seen.unknown_details():
            self.problems.add(replace(unknown.problem, severity=Severity.WARNING))
        mappings = list_desired_mappings(self.desired, self.cluster, seen)
        found = self._access(mappings)
        if not seen.shows_guests:
            # What is not shown is not absent; that the privilege lacks was just said.
            return found
        needs: tuple[str, ...] = ()
        ready = access_ready_step(self.region, tuple(found))
        if ready is not None:
            needs = (ready.id,)
            last = found[-1]
            found[-1] = replace(last, steps=(*last.steps, ready))
        wishes = build_desired_guests(self.desired, self.cluster, self.problems)
        leaving = self._leaving(wishes, needs)
        gone = frozenset(vmid for vmid in leaving)
        templates = self._templates(wishes)
        new = tuple(one for one in templates if seen.guest(one.who.vmid) is None)
        mapped = mapping_hosts(mappings)
        check_guests(seen, (*wishes, *new), gone, mapped, self.problems)
        check_templates(seen, new, self.problems)
        found += leaving.values()
        found += self._guests(wishes, templates, needs)
        if self.options.prune:
            found += find_unused_images(seen, (*wishes, *templates))
        unasked = find_excess_rights(self.desired, self.cluster, seen)
        if unasked is not None:
            found.append(revoke_excess_rights(unasked))
        return _sort_revocations_last(found)

    def _templates(self, wishes: tuple[DesiredGuest, ...]) -> tuple[DesiredGuest, ...]:
        wanted = build_desired_templates(self.desired, self.cluster, self.problems)
        for wish in wanted:
            if self.seen.has_host(wish.host) and not self.seen.is_online(wish.host):
                template_host_offline(self.problems, wish.name, wish.host)
        reached = tuple(
            wish
            for wish in wanted
            if self.seen.is_online(wish.host) or not self.seen.has_host(wish.host)
        )
        taken = frozenset(wish.who.vmid for wish in wishes)
        return assign_template_vmids(self.desired, self.seen, reached, taken)

    def _access(self, mappings: tuple[MapDevices, ...]) -> list[ProxmoxChange]:
        access, major = self.seen.access, self.seen.major
        if isinstance(access, Unknown):
            self.problems.add(access.problem)
        if not isinstance(access, Fact) or major is None:
            check_rights(self.desired, self.cluster, self.seen, self.problems)
            return []
        found: list[ProxmoxChange] = []
        owners, unkept = (
            other_cluster_owners(self.seen, owner_of(self.desired)),
            self.options.unkept,
        )
        for wish in list_desired_tokens(self.desired, self.cluster, major):
            shared = check_token_not_in_use(wish, access.value, unkept, owners)
            if shared is not None:
                self.problems.add(shared)
                continue
            found += token_changes(self.seen, access.value, wish, unkept, owners)
            check_token_expiry(wish, access, self.problems)
            check_login(self.seen, access, wish, self.problems)
        found += mapping_changes(self.seen, mappings)
        return found

    def _leaving(
        self, wishes: tuple[DesiredGuest, ...], needs: tuple[str, ...]
    ) -> dict[Vmid, ProxmoxChange]:
        wanted = frozenset(wish.who.vmid for wish in wishes)
        names = {wish.who.name for wish in wishes}
        kept = frozenset(Vmid(one.vmid) for one in self.desired.guests)
        found: dict[Vmid, ProxmoxChange] = {}
        owner = owner_of(self.desired)
        for guest in find_unreachable_guests(self.seen, owner, wanted | kept):
            say.leftover_disk(self.problems, guest.name or "no name", guest.vmid, guest.host)
        for guest, config in find_surplus_guests(self.seen, owner, wanted | kept):
            if not self.seen.is_online(guest.host):
                say.leftover_disk(self.problems, config.name, guest.vmid, guest.host)
                continue
            why = "the configuration does not have it"
            if config.name in names:
                why = f"the configuration gives {config.name} another vmid"
            check_removal(guest, config, self.problems)
            found[guest.vmid] = plan_removal(guest, config, self.region, needs, why)
        return found

    def _guests(
        self,
        wishes: tuple[DesiredGuest, ...],
        templates: tuple[DesiredGuest, ...],
        needs: tuple[str, ...],
    ) -> list[ProxmoxChange]:
        seen = self.seen
        new = [one for one in (*wishes, *templates) if needs_creation(seen, one)]
        places = image_targets(seen, new)
        found = list(plan_image_downloads(seen, places.values(), needs))
        fetched = {step.id for change in found for step in change.steps}
        pools = list(plan_pool_changes(seen, wishes, needs))
        made_pools = {step.id for change in pools for step in change.steps}
        found += pools
        for wish in wishes:
            pool = pool_step_id(self.region, wish.pool)
            around = GuestDependencies(needs=needs, pool=pool if pool in made_pools else "")
            guest, config = seen.guest(wish.who.vmid), seen.config(wish.who.vmid)
            if guest is None or needs_creation(seen, wish):
                found.append(self._creation(wish, around, places, fetched))
            elif config is not None and is_ours(wish, guest, config):
                found += plan_updates(seen, wish, guest, config, needs)
        steps = {step.id for change in found for step in change.steps}
        found += plan_ha_changes(self.cluster, seen, wishes, needs, steps)
        images = {
            (host, name): place.step
            for (name, host, _), place in places.items()
            if place.step in fetched
        }
        made = list(plan_template_changes(seen, templates, needs, images))
        after = (*needs, *(step.id for change in made for step in change.steps))
        found += made
        owner = owner_of(self.desired)
        found += plan_template_removals(seen, owner, templates, after, self.problems)
        return found

    def _creation(
        self,
        wish: DesiredGuest,
        around: GuestDependencies,
        places: Mapping[tuple[str, str, str], ImageTarget],
        fetched: set[str],
    ) -> ProxmoxChange:
        key = (wish.image.name if wish.image else "", str(wish.host), str(wish.image_storage))
        place = places.get(key)
        image = place.step if place is not None and place.step in fetched else ""
        storage = self._iso_storage(wish) if wish.seed is not None else ""
        around = replace(around, image=image, iso_storage=storage)
        return plan_creation(self.seen, wish, around)

    def _iso_storage(self, wish: DesiredGuest) -> str:
        """A storage of the host that takes ISO images, the one for disk images first."""
        resources = self.seen.resources
        storages = resources.value.storages if isinstance(resources, Fact) else ()
        fit = [
            str(one.storage)
            for one in storages
            if one.host == wish.host and "iso" in one.content and one.status == "available"
        ]
        if not fit:
            because = wish.seed.because if wish.seed is not None else ""
            say.no_iso_storage(self.problems, wish, because)
            return ""
        return str(wish.image_storage) if wish.image_storage in fit else min(fit)
