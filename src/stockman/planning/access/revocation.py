"""Other clusters of stockman in the same Proxmox cluster, which share its users and roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.model.desired import Desired
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.planning.access.changes import REVOKING_ACTIONS
from stockman.planning.access.desired import OWN_ROLES, OWNER, DesiredToken, list_desired_tokens
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedAccess, ObservedProxmox
from stockman.planning.vm.desired import owner_of
from stockman.planning.vm.ownership import TAG, own_tags, parse_mark
from stockman.proxmox.access import AccessRule
from stockman.steps.access.roles import DeleteRole, RevokeRole
from stockman.steps.step import Stage, Step


def other_cluster_owners(seen: ObservedProxmox, owner: str) -> tuple[str, ...]:
    """Other clusters whose machines are here, or ones that nobody can look at."""
    found, own = set[str](), set(own_tags(owner))
    for guest in seen.guests():
        if TAG not in guest.tags or own <= set(guest.tags):
            continue
        config = seen.config(guest.vmid)
        mark = parse_mark(config.get("description")) if config is not None else None
        if config is None:
            found.add(f"VM {guest.vmid}, which cannot be looked at")
        elif mark is not None and mark.owner != owner:
            found.add(mark.owner)
    return tuple(sorted(found))


@record
class ExcessRights:
    """What the token of stockman has in a Proxmox cluster, and needs no more."""

    region: str
    whose: str
    """The token."""
    rules: tuple[AccessRule, ...]
    roles: tuple[str, ...]
    """Roles that nobody has then."""

    @property
    def steps(self) -> tuple[str, ...]:
        """Ids of the steps that give it back."""
        rules = (_revoke_step_id(self.region, rule) for rule in self.rules)
        return (*rules, *(_delete_role_step_id(self.region, role) for role in self.roles))


def find_excess_rights(
    desired: Desired, cluster: ProxmoxCluster, seen: ObservedProxmox
) -> ExcessRights | None:
    """What is given back; only an administrator sees it. None: nothing."""
    access, major = seen.access, seen.major
    if (
        not isinstance(access, Fact)
        or major is None
        or other_cluster_owners(seen, owner_of(desired))
    ):
        return None
    wishes = list_desired_tokens(desired, cluster, major)
    own = next((one for one in wishes if one.whose == OWNER), None)
    if own is None:
        return None
    own = own.as_found(access.value.tokens.get(own.user, ()))
    rules = tuple(_excess_rules(own, wishes, access.value))
    roles = tuple(_roles_without_rules(wishes, access.value, rules))
    found = ExcessRights(region=seen.name, whose=own.id, rules=rules, roles=roles)
    return found if found.steps else None


def revoke_excess_rights(found: ExcessRights) -> ProxmoxChange:
    """How rights are given back."""
    why = "the configuration asks for them no more"
    made = [
        _revocation_step(
            _revoke_step_id(found.region, rule),
            RevokeRole(
                cluster=found.region,
                path=rule.path,
                role=rule.role,
                holder=rule.holder,
                holder_kind=rule.kind,
            ),
            why,
        )
        for rule in found.rules
    ]
    revoked = tuple(step.id for step in made)
    for role in found.roles:
        action = DeleteRole(cluster=found.region, role=role)
        made.append(
            _revocation_step(
                _delete_role_step_id(found.region, role), action, "nobody has this role", revoked
            )
        )
    named = dict.fromkeys((*(rule.role for rule in found.rules), *found.roles))
    return ProxmoxChange(
        region=found.region,
        what=f"rights of {found.whose} in {found.region}: {', '.join(named)}",
        why=why,
        mark=ChangeKind.REMOVE,
        stage=Stage.ACCESS,
        steps=tuple(made),
    )


def _excess_rules(
    own: DesiredToken, wishes: Iterable[DesiredToken], access: ObservedAccess
) -> Iterator[AccessRule]:
    """Rules about stockman's own roles that no wish of its user asks for."""
    asked = {
        (role.name, path)
        for wish in wishes
        if wish.user == own.user
        for role in wish.roles
        for path in role.paths
    }
    for rule in access.rules:
        is_held = rule.holder in (own.user, own.id) and rule.role in OWN_ROLES
        if is_held and (rule.role, rule.path) not in asked:
            yield rule


def _roles_without_rules(
    wishes: Iterable[DesiredToken], access: ObservedAccess, going: tuple[AccessRule, ...]
) -> Iterator[str]:
    """Stockman's own roles that are there, and that nobody wants or has once rules are gone."""
    wanted = {role.name for wish in wishes for role in wish.roles}
    held = {rule.role for rule in access.rules if rule not in going}
    for role in access.roles:
        if role.name in OWN_ROLES - wanted - held:
            yield role.name


def _revoke_step_id(region: str, rule: AccessRule) -> str:
    return f"{REVOKING_ACTIONS}{region}{rule.path} {rule.holder} {rule.role}"


def _delete_role_step_id(region: str, role: str) -> str:
    return f"{REVOKING_ACTIONS}{region}/drop/{role}"


def _revocation_step(
    name: str, action: RevokeRole | DeleteRole, why: str, needs: tuple[str, ...] = ()
) -> Step:
    # What is not needed afterwards may be what the rest of the plan still needs.
    return Step(id=name, action=action, stage=Stage.VMS, reason=why, needs=needs, seconds=1.0)
