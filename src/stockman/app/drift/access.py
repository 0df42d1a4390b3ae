"""Access to Proxmox VE: what an administrator sees, or else what our token is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.app.drift.finding import Author, Correction, Drift, DriftSeverity, Gap, Value
from stockman.app.drift.layer import Layer
from stockman.app.drift.proxmox_side import ProxmoxSide
from stockman.model.problem import Problem
from stockman.planning.access_returned import ReturnedRights, returned_rights
from stockman.planning.access_surplus import SurplusAccess, surplus_access
from stockman.planning.access_wanted import TokenWish, family, role_names, token_wishes
from stockman.planning.change import Change, Mark
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed_proxmox import AccessSeen
from stockman.planning.proxmox_change import ProxmoxChange
from stockman.ports.proxmox.access import AccessRule
from stockman.steps.access_grants import GrantRole, MakeRole, MakeUser
from stockman.steps.access_mapping import MapDevices
from stockman.steps.access_token import MakeToken
from stockman.steps.base import Action
from stockman.steps.step import Stage

LACKS = "proxmox.lacks-privilege"
_UNTOLD = Author(how="Proxmox VE does not tell who changes users, roles and rights")


def access_drifts(side: ProxmoxSide, changes: Iterable[Change]) -> Iterator[Drift]:
    """What an administrator sees: users, roles, tokens and rights, too few and too many."""
    seen = side.seen.access
    if not isinstance(seen, Fact) or side.seen.major is None:
        return
    for change in changes:
        if not isinstance(change, ProxmoxChange) or change.region != side.seen.name:
            continue
        if change.stage is Stage.ACCESS and change.mark is not Mark.REMOVE:
            yield _lacking(change, seen.value)
    unasked = returned_rights(side.desired, side.cluster, side.seen)
    if unasked is not None:
        yield _unasked(unasked)
    for surplus in surplus_access(side.desired, side.cluster, side.seen):
        yield _unneeded(surplus)
    wishes = token_wishes(side.desired, side.cluster, side.seen.major)
    for wish in wishes:
        known = wish.as_found(seen.value.tokens.get(wish.user, ()))
        yield from _too_many(known, seen.value, unasked.rules if unasked is not None else ())
        yield from _replaced(wish, seen.value)


def _unneeded(surplus: SurplusAccess) -> Drift:
    """Users and roles of components that were switched off, as long as they are there."""
    command = "stockman render --prune && stockman apply --push"
    if surplus.others:
        command = f"find out who made {', '.join(surplus.others)}; then pveum user delete"
        command = f"{command} {surplus.user}"
    named = (("user", surplus.user), ("role", surplus.role))
    return Drift(
        layer=Layer.ACCESS,
        subject=surplus.user or surplus.role,
        what=f"nothing needs {surplus.called} any more",
        why=surplus.why,
        values=tuple(
            Value(key=f"{kind} {name}", found="there", wanted=None) for kind, name in named if name
        ),
        author=_UNTOLD,
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command=command),
        claims=surplus.steps,
    )


def _unasked(found: ReturnedRights) -> Drift:
    """Rights of stockman's own token that the files had a use for, and have no more."""
    rules = tuple(
        Value(key=f"right of {rule.holder} on {rule.path}", found=rule.role, wanted=None)
        for rule in found.rules
    )
    roles = tuple(Value(key=f"role {name}", found="there", wanted=None) for name in found.roles)
    return Drift(
        layer=Layer.ACCESS,
        subject=found.whose,
        what=f"{found.whose} has rights that these files ask for no more",
        why="no machine of the configuration needs them",
        values=(*rules, *roles),
        author=_UNTOLD,
        severity=DriftSeverity.NOTICE,
        claims=found.steps,
    )


def rights_drifts(problems: Iterable[Problem]) -> Iterator[Drift]:
    """What our own token lacks, where no administrator looks."""
    for one in problems:
        if one.code == LACKS:
            yield Drift(
                layer=Layer.ACCESS,
                subject="stockman",
                what=one.what,
                why=one.why,
                author=_UNTOLD,
                severity=DriftSeverity.CRITICAL,
                correction=Correction(command=one.fix),
            )


def access_gaps(side: ProxmoxSide) -> Iterator[Gap]:
    for one in (side.seen.access, side.seen.rights, side.seen.pci, side.seen.usb):
        if isinstance(one, Unknown):
            yield Gap(layer=Layer.ACCESS, subject=side.seen.name, problem=one.problem)


def _lacking(change: ProxmoxChange, seen: AccessSeen) -> Drift:
    values = tuple(value for step in change.steps for value in _values(step.action, seen))
    subject = change.what.rpartition(" as ")[2] if " as " in change.what else change.what
    return Drift(
        layer=Layer.ACCESS,
        subject=subject,
        what=f"{change.what} differs",
        why=change.why,
        values=values,
        author=_UNTOLD,
        severity=_severity(values),
        claims=tuple(step.id for step in change.steps),
    )


def _values(action: Action, seen: AccessSeen) -> Iterator[Value]:
    match action:
        case MakeUser():
            yield Value(key=f"user {action.user}", found=None, wanted="there")
        case MakeToken():
            yield Value(key=f"token {action.user}!{action.token}", found=None, wanted="kept")
        case MakeRole():
            found = next((one for one in seen.roles if one.name == action.role), None)
            has = None if found is None else " ".join(sorted(found.privileges))
            wanted = " ".join(sorted(action.privileges))
            yield Value(key=f"role {action.role}", found=has, wanted=wanted)
        case GrantRole():
            key = f"right of {action.holder} on {action.path}"
            yield Value(key=key, found=None, wanted=action.role)
        case MapDevices():
            key = f"{action.bus} mapping {action.name}"
            yield Value(key=key, found=None, wanted=f"{len(action.devices)} devices")


def _severity(values: Iterable[Value]) -> DriftSeverity:
    """A role that gives more than it should is worse than one that gives less."""
    for one in values:
        has, wanted = set((one.found or "").split()), set((one.wanted or "").split())
        if one.key.startswith("role ") and has - wanted:
            return DriftSeverity.CRITICAL
    return DriftSeverity.WARNING


def _too_many(wish: TokenWish, seen: AccessSeen, going: tuple[AccessRule, ...]) -> Iterator[Drift]:
    wanted = {(role.name, path) for role in wish.roles for path in role.paths}
    more = [
        rule
        for rule in seen.rules
        if rule.holder in (wish.user, wish.id)
        and (rule.role, rule.path) not in wanted
        and rule not in going
    ]
    strange = [rule for rule in more if rule.role not in role_names()]
    own = [rule for rule in more if rule.role in role_names()]
    if strange:
        what = f"{wish.id} has rights that nothing asks for"
        yield _superfluous(wish, what, strange, DriftSeverity.CRITICAL)
    if own:
        what = f"{wish.id} has rights that these files ask for no more"
        yield _superfluous(wish, what, own, DriftSeverity.NOTICE)


def _superfluous(
    wish: TokenWish, what: str, rules: list[AccessRule], severity: DriftSeverity
) -> Drift:
    return Drift(
        layer=Layer.ACCESS,
        subject=wish.id,
        what=what,
        why="another cluster of stockman may need them" if severity is DriftSeverity.NOTICE else "",
        values=tuple(
            Value(key=f"right of {rule.holder} on {rule.path}", found=rule.role, wanted=None)
            for rule in rules
        ),
        author=_UNTOLD,
        severity=severity,
        correction=Correction(command="; ".join(_taken_back(rule) for rule in rules)),
    )


def _replaced(wish: TokenWish, seen: AccessSeen) -> Iterator[Drift]:
    """Tokens that a rotation replaced and did not come to delete."""
    *older, newest = family(seen.tokens.get(wish.user, ()), wish.token) or (None,)
    if not older or newest is None:
        return
    yield Drift(
        layer=Layer.ACCESS,
        subject=f"{wish.user}!{newest.name}",
        what=f"{wish.whose} has older tokens in {wish.user} that still work",
        why="a rotation did not come to its end: whoever read one of them can use it",
        values=tuple(
            Value(key=f"token {wish.user}!{one.name}", found="there", wanted=None) for one in older
        ),
        author=_UNTOLD,
        severity=DriftSeverity.WARNING,
        correction=Correction(
            command="go on with `stockman runs resume`, or else run"
            f" `stockman secrets rotate proxmox --token {wish.whose} --push`"
        ),
    )


def _taken_back(rule: AccessRule) -> str:
    whose = "--tokens" if rule.kind == "token" else "--users"
    return f"pveum acl delete {rule.path} --roles {rule.role} {whose} '{rule.holder}'"
