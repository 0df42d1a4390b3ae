"""Rights of stockman's own token that the files ask for no more: given back when all else is done.

Rights on devices are the usual ones: the files had a PCI or USB device and do not have it any
more. Only roles of stockman's own are taken back, and only where no other cluster may need them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.model.desired import Desired
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.planning.access_changes import NARROWING
from stockman.planning.access_wanted import OWN_ROLES, OWNER, TokenWish, token_wishes
from stockman.planning.change import Mark
from stockman.planning.fact import Fact
from stockman.planning.observed_proxmox import AccessSeen, ObservedProxmox
from stockman.planning.other_owners import other_owners
from stockman.planning.proxmox_change import ProxmoxChange
from stockman.planning.vm_wanted import owner_of
from stockman.ports.proxmox.access import AccessRule
from stockman.steps.access_removal import DropRole, RevokeRole
from stockman.steps.step import Stage, Step


@record
class ReturnedRights:
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
        rules = (_revoke_id(self.region, rule) for rule in self.rules)
        return (*rules, *(_drop_id(self.region, role) for role in self.roles))


def returned_rights(
    desired: Desired, cluster: ProxmoxCluster, seen: ObservedProxmox
) -> ReturnedRights | None:
    """What is given back; only an administrator sees it. None: nothing."""
    access, major = seen.access, seen.major
    if not isinstance(access, Fact) or major is None or other_owners(seen, owner_of(desired)):
        return None
    wishes = token_wishes(desired, cluster, major)
    own = next((one for one in wishes if one.whose == OWNER), None)
    if own is None:
        return None
    own = own.as_found(access.value.tokens.get(own.user, ()))
    rules = tuple(_unasked(own, wishes, access.value))
    roles = tuple(_free(wishes, access.value, rules))
    found = ReturnedRights(region=seen.name, whose=own.id, rules=rules, roles=roles)
    return found if found.steps else None


def returning(found: ReturnedRights) -> ProxmoxChange:
    """How rights are given back."""
    why = "the configuration asks for them no more"
    made = [
        _step(
            _revoke_id(found.region, rule),
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
        action = DropRole(cluster=found.region, role=role)
        made.append(_step(_drop_id(found.region, role), action, "nobody has this role", revoked))
    named = dict.fromkeys((*(rule.role for rule in found.rules), *found.roles))
    return ProxmoxChange(
        region=found.region,
        what=f"rights of {found.whose} in {found.region}: {', '.join(named)}",
        why=why,
        mark=Mark.REMOVE,
        stage=Stage.ACCESS,
        steps=tuple(made),
    )


def _unasked(
    own: TokenWish, wishes: Iterable[TokenWish], access: AccessSeen
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


def _free(
    wishes: Iterable[TokenWish], access: AccessSeen, going: tuple[AccessRule, ...]
) -> Iterator[str]:
    """Stockman's own roles that are there, and that nobody wants or has once rules are gone."""
    wanted = {role.name for wish in wishes for role in wish.roles}
    held = {rule.role for rule in access.rules if rule not in going}
    for role in access.roles:
        if role.name in OWN_ROLES - wanted - held:
            yield role.name


def _revoke_id(region: str, rule: AccessRule) -> str:
    return f"{NARROWING}{region}{rule.path} {rule.holder} {rule.role}"


def _drop_id(region: str, role: str) -> str:
    return f"{NARROWING}{region}/drop/{role}"


def _step(name: str, action: RevokeRole | DropRole, why: str, needs: tuple[str, ...] = ()) -> Step:
    # What is not needed afterwards may be what the rest of the plan still needs.
    return Step(id=name, action=action, stage=Stage.VMS, reason=why, needs=needs, seconds=1.0)
