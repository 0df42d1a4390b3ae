"""Access to Proxmox VE: what an administrator sees, or else what our token is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.assessment.drift.proxmox import ProxmoxSide
from stockman.assessment.drift.report import (
    Author,
    Correction,
    Drift,
    DriftSeverity,
    DriftValue,
    Gap,
    Layer,
)
from stockman.model.problem import Problem
from stockman.planning.access.desired import (
    DesiredToken,
    list_desired_tokens,
    stockman_role_names,
    token_generations,
)
from stockman.planning.access.revocation import ExcessRights, find_excess_rights
from stockman.planning.access.surplus import SurplusAccess, find_surplus_access
from stockman.planning.change import Change, ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ObservedAccess
from stockman.proxmox.access import AccessRule
from stockman.steps.access.mapping import MapDevices
from stockman.steps.access.roles import CreateRole, CreateUser, GrantRole
from stockman.steps.access.tokens import CreateToken
from stockman.steps.base import Action
from stockman.steps.step import Stage

LACKS = "proxmox.lacks-privilege"
_UNKNOWN_AUTHOR = Author(how="Proxmox VE does not tell who changes users, roles and rights")


def access_drifts(side: ProxmoxSide, changes: Iterable[Change]) -> Iterator[Drift]:
    """What an administrator sees: users, roles, tokens and rights, too few and too many."""
    seen = side.seen.access
    if not isinstance(seen, Fact) or side.seen.major is None:
        return
    for change in changes:
        if not isinstance(change, ProxmoxChange) or change.region != side.seen.name:
            continue
        if change.stage is Stage.ACCESS and change.mark is not ChangeKind.REMOVE:
            yield _missing_entry(change, seen.value)
    unasked = find_excess_rights(side.desired, side.cluster, side.seen)
    if unasked is not None:
        yield _unneeded_rights(unasked)
    for surplus in find_surplus_access(side.desired, side.cluster, side.seen):
        yield _unneeded_users(surplus)
    wishes = list_desired_tokens(side.desired, side.cluster, side.seen.major)
    for wish in wishes:
        known = wish.as_found(seen.value.tokens.get(wish.user, ()))
        yield from _surplus_entries(known, seen.value, unasked.rules if unasked is not None else ())
        yield from _replaced_tokens(wish, seen.value)


def _unneeded_users(surplus: SurplusAccess) -> Drift:
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
            DriftValue(key=f"{kind} {name}", found="there", wanted=None)
            for kind, name in named
            if name
        ),
        author=_UNKNOWN_AUTHOR,
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command=command),
        claims=surplus.steps,
    )


def _unneeded_rights(found: ExcessRights) -> Drift:
    """Rights of stockman's own token that the files had a use for, and have no more."""
    rules = tuple(
        DriftValue(key=f"right of {rule.holder} on {rule.path}", found=rule.role, wanted=None)
        for rule in found.rules
    )
    roles = tuple(
        DriftValue(key=f"role {name}", found="there", wanted=None) for name in found.roles
    )
    return Drift(
        layer=Layer.ACCESS,
        subject=found.whose,
        what=f"{found.whose} has rights that these files ask for no more",
        why="no machine of the configuration needs them",
        values=(*rules, *roles),
        author=_UNKNOWN_AUTHOR,
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
                author=_UNKNOWN_AUTHOR,
                severity=DriftSeverity.CRITICAL,
                correction=Correction(command=one.fix),
            )


def access_gaps(side: ProxmoxSide) -> Iterator[Gap]:
    for one in (side.seen.access, side.seen.rights, side.seen.pci, side.seen.usb):
        if isinstance(one, Unknown):
            yield Gap(layer=Layer.ACCESS, subject=side.seen.name, problem=one.problem)


def _missing_entry(change: ProxmoxChange, seen: ObservedAccess) -> Drift:
    values = tuple(value for step in change.steps for value in _values(step.action, seen))
    subject = change.what.rpartition(" as ")[2] if " as " in change.what else change.what
    return Drift(
        layer=Layer.ACCESS,
        subject=subject,
        what=f"{change.what} differs",
        why=change.why,
        values=values,
        author=_UNKNOWN_AUTHOR,
        severity=_severity(values),
        claims=tuple(step.id for step in change.steps),
    )


def _values(action: Action, seen: ObservedAccess) -> Iterator[DriftValue]:
    match action:
        case CreateUser():
            yield DriftValue(key=f"user {action.user}", found=None, wanted="there")
        case CreateToken():
            yield DriftValue(key=f"token {action.user}!{action.token}", found=None, wanted="kept")
        case CreateRole():
            found = next((one for one in seen.roles if one.name == action.role), None)
            has = None if found is None else " ".join(sorted(found.privileges))
            wanted = " ".join(sorted(action.privileges))
            yield DriftValue(key=f"role {action.role}", found=has, wanted=wanted)
        case GrantRole():
            key = f"right of {action.holder} on {action.path}"
            yield DriftValue(key=key, found=None, wanted=action.role)
        case MapDevices():
            key = f"{action.bus} mapping {action.name}"
            yield DriftValue(key=key, found=None, wanted=f"{len(action.devices)} devices")


def _severity(values: Iterable[DriftValue]) -> DriftSeverity:
    """A role that gives more than it should is worse than one that gives less."""
    for one in values:
        has, wanted = set((one.found or "").split()), set((one.wanted or "").split())
        if one.key.startswith("role ") and has - wanted:
            return DriftSeverity.CRITICAL
    return DriftSeverity.WARNING


def _surplus_entries(
    wish: DesiredToken, seen: ObservedAccess, going: tuple[AccessRule, ...]
) -> Iterator[Drift]:
    wanted = {(role.name, path) for role in wish.roles for path in role.paths}
    more = [
        rule
        for rule in seen.rules
        if rule.holder in (wish.user, wish.id)
        and (rule.role, rule.path) not in wanted
        and rule not in going
    ]
    strange = [rule for rule in more if rule.role not in stockman_role_names()]
    own = [rule for rule in more if rule.role in stockman_role_names()]
    if strange:
        what = f"{wish.id} has rights that nothing asks for"
        yield _surplus_rights(wish, what, strange, DriftSeverity.CRITICAL)
    if own:
        what = f"{wish.id} has rights that these files ask for no more"
        yield _surplus_rights(wish, what, own, DriftSeverity.NOTICE)


def _surplus_rights(
    wish: DesiredToken, what: str, rules: list[AccessRule], severity: DriftSeverity
) -> Drift:
    return Drift(
        layer=Layer.ACCESS,
        subject=wish.id,
        what=what,
        why="another cluster of stockman may need them" if severity is DriftSeverity.NOTICE else "",
        values=tuple(
            DriftValue(key=f"right of {rule.holder} on {rule.path}", found=rule.role, wanted=None)
            for rule in rules
        ),
        author=_UNKNOWN_AUTHOR,
        severity=severity,
        correction=Correction(command="; ".join(_revoked_rule(rule) for rule in rules)),
    )


def _replaced_tokens(wish: DesiredToken, seen: ObservedAccess) -> Iterator[Drift]:
    """Tokens that a rotation replaced and did not come to delete."""
    *older, newest = token_generations(seen.tokens.get(wish.user, ()), wish.token) or (None,)
    if not older or newest is None:
        return
    yield Drift(
        layer=Layer.ACCESS,
        subject=f"{wish.user}!{newest.name}",
        what=f"{wish.whose} has older tokens in {wish.user} that still work",
        why="a rotation did not come to its end: whoever read one of them can use it",
        values=tuple(
            DriftValue(key=f"token {wish.user}!{one.name}", found="there", wanted=None)
            for one in older
        ),
        author=_UNKNOWN_AUTHOR,
        severity=DriftSeverity.WARNING,
        correction=Correction(
            command="go on with `stockman runs resume`, or else run"
            f" `stockman secrets rotate proxmox --token {wish.whose} --push`"
        ),
    )


def _revoked_rule(rule: AccessRule) -> str:
    whose = "--tokens" if rule.kind == "token" else "--users"
    return f"pveum acl delete {rule.path} --roles {rule.role} {whose} '{rule.holder}'"
