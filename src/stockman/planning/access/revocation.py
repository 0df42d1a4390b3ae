"""Plans the revocation of rights that stockman and other clusters no longer need."""

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
from stockman.planning.vm.desired import guest_owner
from stockman.proxmox.access import AccessRule
from stockman.steps.access.roles import DeleteRole, RevokeRole
from stockman.steps.step import Stage, Step
from stockman.steps.vm.ownership import TAG, GuestOwner, other_fingerprint, own_tags, parse_mark


def other_cluster_owners(observed: ObservedProxmox, owner: GuestOwner) -> tuple[str, ...]:
    """Return other clusters with guests here, and guests that cannot be read."""
    owners, own = set[str](), set(own_tags(owner.name))
    for guest in observed.guests():
        config = observed.config(guest.vmid)
        if TAG not in guest.tags or (config is None and own <= set(guest.tags)):
            continue
        mark = parse_mark(config.get("description")) if config is not None else None
        if config is None:
            owners.add(f"VM {guest.vmid}, which cannot be read")
        elif mark is not None and other_fingerprint(owner, config):
            owners.add(f"{mark.owner} ({mark.fingerprint})")
        elif mark is not None and mark.owner != owner.name:
            owners.add(mark.owner)
    return tuple(sorted(owners))


@record
class ExcessRights:
    """Rights of stockman's token in a Proxmox cluster that are no longer needed."""

    region: str
    token_id: str
    rules: tuple[AccessRule, ...]
    roles: tuple[str, ...]
    """Roles that nobody has afterwards."""

    @property
    def steps(self) -> tuple[str, ...]:
        """Ids of the steps that revoke them."""
        rules = (_revoke_step_id(self.region, rule) for rule in self.rules)
        return (*rules, *(_delete_role_step_id(self.region, role) for role in self.roles))


def find_excess_rights(
    desired: Desired, cluster: ProxmoxCluster, observed: ObservedProxmox
) -> ExcessRights | None:
    """Return the rights to revoke, which only an administrator can read. None: there are none."""
    access, major = observed.access, observed.major
    if (
        not isinstance(access, Fact)
        or major is None
        or other_cluster_owners(observed, guest_owner(desired))
    ):
        return None
    tokens = list_desired_tokens(desired, cluster, major)
    own = next((token for token in tokens if token.owner == OWNER), None)
    if own is None:
        return None
    own = own.latest(access.value.tokens.get(own.user, ()))
    rules = tuple(_excess_rules(own, tokens, access.value))
    roles = tuple(_roles_without_rules(tokens, access.value, rules))
    excess = ExcessRights(region=observed.name, token_id=own.id, rules=rules, roles=roles)
    return excess if excess.steps else None


def revoke_excess_rights(excess: ExcessRights) -> ProxmoxChange:
    """Plan the revocation of rights."""
    why = "the configuration no longer needs them"
    steps = [
        _revocation_step(
            _revoke_step_id(excess.region, rule),
            RevokeRole(
                cluster=excess.region,
                path=rule.path,
                role=rule.role,
                holder=rule.holder,
                holder_kind=rule.kind,
            ),
            why,
        )
        for rule in excess.rules
    ]
    revoked = tuple(step.id for step in steps)
    for role in excess.roles:
        action = DeleteRole(cluster=excess.region, role=role)
        steps.append(
            _revocation_step(
                _delete_role_step_id(excess.region, role), action, "nobody has this role", revoked
            )
        )
    named = dict.fromkeys((*(rule.role for rule in excess.rules), *excess.roles))
    return ProxmoxChange(
        region=excess.region,
        what=f"rights of {excess.token_id} in {excess.region}: {', '.join(named)}",
        why=why,
        mark=ChangeKind.REMOVE,
        stage=Stage.ACCESS,
        steps=tuple(steps),
    )


def _excess_rules(
    own: DesiredToken, tokens: Iterable[DesiredToken], access: ObservedAccess
) -> Iterator[AccessRule]:
    """Return grants of stockman's own roles to its user that the configuration does not need."""
    configured = {
        (role.name, path)
        for token in tokens
        if token.user == own.user
        for role in token.roles
        for path in role.paths
    }
    for rule in access.rules:
        is_held = rule.holder in (own.user, own.id) and rule.role in OWN_ROLES
        if is_held and (rule.role, rule.path) not in configured:
            yield rule


def _roles_without_rules(
    tokens: Iterable[DesiredToken], access: ObservedAccess, revoked: tuple[AccessRule, ...]
) -> Iterator[str]:
    """Return existing roles of stockman that are neither configured nor granted afterwards."""
    configured = {role.name for token in tokens for role in token.roles}
    held = {rule.role for rule in access.rules if rule not in revoked}
    for role in access.roles:
        if role.name in OWN_ROLES - configured - held:
            yield role.name


def _revoke_step_id(region: str, rule: AccessRule) -> str:
    return f"{REVOKING_ACTIONS}{region}{rule.path} {rule.holder} {rule.role}"


def _delete_role_step_id(region: str, role: str) -> str:
    return f"{REVOKING_ACTIONS}{region}/drop/{role}"


def _revocation_step(
    name: str, action: RevokeRole | DeleteRole, why: str, needs: tuple[str, ...] = ()
) -> Step:
    # The rest of the plan may still need these rights, so they are revoked last.
    return Step(id=name, action=action, stage=Stage.VMS, reason=why, needs=needs, seconds=1.0)
