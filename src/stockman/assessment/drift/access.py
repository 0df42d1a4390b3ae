"""Drift of users, roles, tokens and privileges in Proxmox VE."""

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
    """Return missing and surplus users, roles, tokens and ACL entries, as an administrator sees
    them."""
    access = side.observed.access
    if not isinstance(access, Fact) or side.observed.major is None:
        return
    for change in changes:
        if not isinstance(change, ProxmoxChange) or change.region != side.observed.name:
            continue
        if change.stage is Stage.ACCESS and change.mark is not ChangeKind.REMOVE:
            yield _missing_entry(change, access.value)
    unasked = find_excess_rights(side.desired, side.cluster, side.observed)
    if unasked is not None:
        yield _surplus_own_rights(unasked)
    for surplus in find_surplus_access(side.desired, side.cluster, side.observed):
        yield _surplus_users(surplus)
    tokens = list_desired_tokens(side.desired, side.cluster, side.observed.major)
    for token in tokens:
        known = token.latest(access.value.tokens.get(token.user, ()))
        yield from _surplus_entries(
            known, access.value, unasked.rules if unasked is not None else ()
        )
        yield from _old_tokens(token, access.value)


def _surplus_users(surplus: SurplusAccess) -> Drift:
    """Users and roles of disabled components that still exist."""
    command = "stockman render --prune && stockman apply --push"
    if surplus.foreign_tokens:
        command = f"find out who made {', '.join(surplus.foreign_tokens)}; then pveum user delete"
        command = f"{command} {surplus.user}"
    named = (("user", surplus.user), ("role", surplus.role))
    return Drift(
        layer=Layer.ACCESS,
        subject=surplus.user or surplus.role,
        description=f"nothing needs {surplus.label} any more",
        why=surplus.why,
        values=tuple(
            DriftValue(key=f"{kind} {name}", observed="there", desired=None)
            for kind, name in named
            if name
        ),
        author=_UNKNOWN_AUTHOR,
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command=command),
        claims=surplus.steps,
    )


def _surplus_own_rights(excess: ExcessRights) -> Drift:
    """Privileges of stockman's own token that the configuration no longer needs."""
    rules = tuple(
        DriftValue(key=f"right of {rule.holder} on {rule.path}", observed=rule.role, desired=None)
        for rule in excess.rules
    )
    roles = tuple(
        DriftValue(key=f"role {name}", observed="there", desired=None) for name in excess.roles
    )
    return Drift(
        layer=Layer.ACCESS,
        subject=excess.token_id,
        description=f"{excess.token_id} has rights that these files ask for no more",
        why="no machine of the configuration needs them",
        values=(*rules, *roles),
        author=_UNKNOWN_AUTHOR,
        severity=DriftSeverity.NOTICE,
        claims=excess.steps,
    )


def rights_drifts(problems: Iterable[Problem]) -> Iterator[Drift]:
    """Return privileges that stockman's own token lacks; used without administrator access."""
    for problem in problems:
        if problem.code == LACKS:
            yield Drift(
                layer=Layer.ACCESS,
                subject="stockman",
                description=problem.what,
                why=problem.why,
                author=_UNKNOWN_AUTHOR,
                severity=DriftSeverity.CRITICAL,
                correction=Correction(command=problem.fix),
            )


def access_gaps(side: ProxmoxSide) -> Iterator[Gap]:
    for observed in (
        side.observed.access,
        side.observed.rights,
        side.observed.pci,
        side.observed.usb,
    ):
        if isinstance(observed, Unknown):
            yield Gap(layer=Layer.ACCESS, subject=side.observed.name, problem=observed.problem)


def _missing_entry(change: ProxmoxChange, observed: ObservedAccess) -> Drift:
    values = tuple(value for step in change.steps for value in _values(step.action, observed))
    subject = change.what.rpartition(" as ")[2] if " as " in change.what else change.what
    return Drift(
        layer=Layer.ACCESS,
        subject=subject,
        description=f"{change.what} differs",
        why=change.why,
        values=values,
        author=_UNKNOWN_AUTHOR,
        severity=_severity(values),
        claims=tuple(step.id for step in change.steps),
    )


def _values(action: Action, observed: ObservedAccess) -> Iterator[DriftValue]:
    match action:
        case CreateUser():
            yield DriftValue(key=f"user {action.user}", observed=None, desired="there")
        case CreateToken():
            yield DriftValue(
                key=f"token {action.user}!{action.token}", observed=None, desired="kept"
            )
        case CreateRole():
            role = next((role for role in observed.roles if role.name == action.role), None)
            has = None if role is None else " ".join(sorted(role.privileges))
            privileges = " ".join(sorted(action.privileges))
            yield DriftValue(key=f"role {action.role}", observed=has, desired=privileges)
        case GrantRole():
            key = f"right of {action.holder} on {action.path}"
            yield DriftValue(key=key, observed=None, desired=action.role)
        case MapDevices():
            key = f"{action.bus} mapping {action.name}"
            yield DriftValue(key=key, observed=None, desired=f"{len(action.devices)} devices")


def _severity(values: Iterable[DriftValue]) -> DriftSeverity:
    """A role with surplus privileges is more severe than one with missing privileges."""
    for value in values:
        has, desired = set((value.observed or "").split()), set((value.desired or "").split())
        if value.key.startswith("role ") and has - desired:
            return DriftSeverity.CRITICAL
    return DriftSeverity.WARNING


def _surplus_entries(
    desired_token: DesiredToken, observed: ObservedAccess, going: tuple[AccessRule, ...]
) -> Iterator[Drift]:
    desired_paths = {(role.name, path) for role in desired_token.roles for path in role.paths}
    more = [
        rule
        for rule in observed.rules
        if rule.holder in (desired_token.user, desired_token.id)
        and (rule.role, rule.path) not in desired_paths
        and rule not in going
    ]
    strange = [rule for rule in more if rule.role not in stockman_role_names()]
    own = [rule for rule in more if rule.role in stockman_role_names()]
    if strange:
        description = f"{desired_token.id} has rights that nothing asks for"
        yield _surplus_rights(desired_token, description, strange, DriftSeverity.CRITICAL)
    if own:
        description = f"{desired_token.id} has rights that these files ask for no more"
        yield _surplus_rights(desired_token, description, own, DriftSeverity.NOTICE)


def _surplus_rights(
    desired_token: DesiredToken, description: str, rules: list[AccessRule], severity: DriftSeverity
) -> Drift:
    return Drift(
        layer=Layer.ACCESS,
        subject=desired_token.id,
        description=description,
        why="another cluster of stockman may need them" if severity is DriftSeverity.NOTICE else "",
        values=tuple(
            DriftValue(
                key=f"right of {rule.holder} on {rule.path}", observed=rule.role, desired=None
            )
            for rule in rules
        ),
        author=_UNKNOWN_AUTHOR,
        severity=severity,
        correction=Correction(command="; ".join(_deleted_rule(rule) for rule in rules)),
    )


def _old_tokens(desired_token: DesiredToken, observed: ObservedAccess) -> Iterator[Drift]:
    """Tokens that an interrupted rotation replaced but did not delete."""
    *older, newest = token_generations(
        observed.tokens.get(desired_token.user, ()), desired_token.token
    ) or (None,)
    if not older or newest is None:
        return
    yield Drift(
        layer=Layer.ACCESS,
        subject=f"{desired_token.user}!{newest.name}",
        description=f"{desired_token.owner} has older valid tokens in {desired_token.user}",
        why="a rotation was interrupted: anybody who read one of them can still use it",
        values=tuple(
            DriftValue(
                key=f"token {desired_token.user}!{token.name}", observed="there", desired=None
            )
            for token in older
        ),
        author=_UNKNOWN_AUTHOR,
        severity=DriftSeverity.WARNING,
        correction=Correction(
            command="go on with `stockman runs resume`, or else run"
            f" `stockman secrets rotate proxmox --token {desired_token.owner} --push`"
        ),
    )


def _deleted_rule(rule: AccessRule) -> str:
    whose = "--tokens" if rule.kind == "token" else "--users"
    return f"pveum acl delete {rule.path} --roles {rule.role} {whose} '{rule.holder}'"
