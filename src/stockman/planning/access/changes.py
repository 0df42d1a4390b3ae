"""Plans access: roles, users, tokens and device mappings, which an administrator creates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from stockman.model.desired import Desired
from stockman.model.names import HostName
from stockman.model.problem import Problem, Problems
from stockman.model.proxmox import ProxmoxCluster
from stockman.planning.access.desired import (
    OWNER,
    TOKEN_COMMENT,
    DesiredRole,
    DesiredToken,
    stockman_privileges,
    successor_comment,
)
from stockman.planning.access.problems import (
    inactive_user,
    missing_privilege,
    token_expires,
    token_in_use,
    token_secret_mismatch,
)
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedAccess, ObservedProxmox
from stockman.proxmox.access import Holder
from stockman.proxmox.pools import DeviceMapping
from stockman.steps.access.mapping import MapDevices, MappedDevice, is_mapped
from stockman.steps.access.roles import CreateRole, CreateUser, GrantRole
from stockman.steps.access.tokens import CreateToken
from stockman.steps.base import Action, Checkpoint
from stockman.steps.step import Stage, Step

REVOKING_ACTIONS = "access/narrow/"
"""Prefix of the ids of steps that revoke rights."""
_MAX_LISTED = 3
_EXPIRES_SOON = timedelta(days=14)


def token_changes(
    observed: ObservedProxmox,
    access: ObservedAccess,
    desired: DesiredToken,
    unkept: frozenset[str],
    owners: tuple[str, ...] = (),
) -> Iterator[ProxmoxChange]:
    """Plan what one user and its token need. `unkept` are references without a stored secret.

    `owners` are other clusters that use the same roles: no privilege of theirs is revoked.
    """
    first, desired = desired.token, desired.latest(access.tokens.get(desired.user, ()))
    is_renewed = desired.token != first
    comment = f"{desired.owner}{TOKEN_COMMENT}"
    region, before = observed.name, f"access/user/{observed.name}/{desired.user}"
    steps: list[Step] = []
    reasons: list[str] = []
    if all(user.id != desired.user for user in access.users):
        reasons.append(f"there is no user {desired.user}")
        user = CreateUser(cluster=region, user=desired.user, comment=comment)
        steps.append(_access_step(before, user, reasons[-1]))
    for role in desired.roles:
        steps += _role_steps(region, access, role, reasons, is_shared=bool(owners))
    done = {step.id for step in steps}
    tokens = access.tokens.get(desired.user, ())
    exists = any(token.name == desired.token for token in tokens)
    if not exists or desired.secret.place in unkept:
        lacking = f"there is no token {desired.id}"
        reasons.append(lacking if not exists else f"the secret of {desired.id} is not stored")
        create_token = CreateToken(
            cluster=region,
            user=desired.user,
            token=desired.token,
            secret=desired.secret,
            comment=successor_comment(desired.owner, first) if is_renewed else comment,
            whole=is_renewed,
        )
        needs = (before,) if before in done else ()
        steps.append(
            _access_step(f"access/token/{region}/{desired.id}", create_token, reasons[-1], needs)
        )
    steps += _grant_steps(region, access, desired, {step.id for step in steps}, reasons)
    if steps:
        yield ProxmoxChange(
            region=region,
            what=f"access of {desired.owner} to {region} as {desired.id}",
            why=_shorten(reasons),
            mark=ChangeKind.CHANGE if exists else ChangeKind.ADD,
            stage=Stage.ACCESS,
            steps=tuple(steps),
        )


def _shorten(reasons: list[str]) -> str:
    shown = "; ".join(reasons[:_MAX_LISTED])
    return (
        f"{shown}; and {len(reasons) - _MAX_LISTED} more" if len(reasons) > _MAX_LISTED else shown
    )


def _role_steps(
    region: str, access: ObservedAccess, role: DesiredRole, reasons: list[str], *, is_shared: bool
) -> Iterator[Step]:
    existing = next(
        (existing_role for existing_role in access.roles if existing_role.name == role.name), None
    )
    privileges = frozenset(role.privileges)
    if existing is not None and is_shared:
        privileges |= existing.privileges
        role = replace(role, privileges=tuple(sorted(privileges)))
    if existing is not None and existing.privileges == privileges:
        return
    if existing is None:
        why = f"there is no role {role.name}"
    else:
        more, less = (
            sorted(privileges - existing.privileges),
            sorted(existing.privileges - privileges),
        )
        few = (f"lacks {', '.join(more)}",) if more else ()
        many = (f"has {', '.join(less)}, which it does not need",) if less else ()
        why = f"role {role.name} {' and '.join((*few, *many))}"
    reasons.append(why)
    exact = CreateRole(cluster=region, role=role.name, privileges=role.privileges)
    if existing is None or existing.privileges <= privileges:
        yield _access_step(f"access/role/{region}/{role.name}", exact, why)
        return
    # The rest of this plan may still need the excess privileges, so they are revoked last.
    if more:
        both = tuple(sorted(privileges | existing.privileges))
        wider = CreateRole(cluster=region, role=role.name, privileges=both)
        yield _access_step(f"access/role/{region}/{role.name}", wider, why)
    narrow = _access_step(f"{REVOKING_ACTIONS}{region}/{role.name}", exact, why)
    yield replace(narrow, stage=Stage.VMS)


def _grant_steps(
    region: str,
    access: ObservedAccess,
    desired: DesiredToken,
    planned: set[str],
    reasons: list[str],
) -> Iterator[Step]:
    holders: tuple[tuple[Holder, str], ...] = (("user", desired.user), ("token", desired.id))
    for role in desired.roles:
        for path in role.paths:
            for kind, holder in holders:
                grant = GrantRole(
                    cluster=region,
                    path=path,
                    role=role.name,
                    holder=holder,
                    holder_kind=kind,
                    propagate=role.propagates,
                )
                token = f"access/token/{region}/{desired.id}"
                is_new = kind == "token" and token in planned
                if grant.rule in access.rules and not is_new:
                    continue
                why = f"{holder} has no role {role.name} on {path}"
                reasons.append(why)
                needed = (
                    f"access/user/{region}/{desired.user}",
                    f"access/role/{region}/{role.name}",
                    token,
                )
                needs = tuple(step_id for step_id in needed if step_id in planned)
                yield _access_step(
                    f"access/grant/{region}{path} {holder} {role.name}", grant, why, needs
                )


def list_desired_mappings(
    desired: Desired, cluster: ProxmoxCluster, observed: ObservedProxmox
) -> tuple[MapDevices, ...]:
    """Return the device mappings that the files define for hosts of this cluster."""
    devices: defaultdict[tuple[str, str], list[MappedDevice]] = defaultdict(list)
    descriptions: dict[tuple[str, str], str] = {}
    for name, host in desired.hosts.items():
        if host.passthrough is None or not (observed.has_host(name) or name in cluster.hosts):
            continue
        for pci in host.passthrough.pci:
            devices["pci", pci.name].append(
                MappedDevice(host=HostName(name), place=pci.address, id=pci.id or "")
            )
            descriptions.setdefault(("pci", pci.name), pci.description)
        for usb in host.passthrough.usb:
            devices["usb", usb.name].append(MappedDevice(host=HostName(name), place=usb.id))
            descriptions.setdefault(("usb", usb.name), usb.description)
    return tuple(
        MapDevices(
            cluster=observed.name,
            name=name,
            bus="pci" if bus == "pci" else "usb",
            devices=tuple(mapped_devices),
            description=descriptions[bus, name],
        )
        for (bus, name), mapped_devices in devices.items()
    )


def mapping_hosts(mappings: tuple[MapDevices, ...]) -> Mapping[str, frozenset[str]]:
    """Return the hosts of the mappings that the plan creates, by `pci/NAME`."""
    return {
        f"{mapping.bus}/{mapping.name}": frozenset(d.host for d in mapping.devices)
        for mapping in mappings
    }


def mapping_changes(
    observed: ObservedProxmox, mappings: tuple[MapDevices, ...]
) -> Iterator[ProxmoxChange]:
    """Plan mappings that do not exist or do not include all devices."""
    for desired in mappings:
        fact = observed.pci if desired.bus == "pci" else observed.usb
        if not isinstance(fact, Fact):
            continue  # A list that could not be read is unknown, not empty.
        known: tuple[DeviceMapping, ...] = fact.value
        mapping = next(
            (known_mapping for known_mapping in known if known_mapping.name == desired.name), None
        )
        if mapping is not None and all(is_mapped(mapping, device) for device in desired.devices):
            continue
        why = "the mapping does not exist" if mapping is None else "it does not include all devices"
        step = _access_step(
            f"access/mapping/{observed.name}/{desired.bus}/{desired.name}", desired, why
        )
        yield ProxmoxChange(
            region=observed.name,
            what=f"{desired.bus.upper()} mapping {desired.name}",
            why=why,
            mark=ChangeKind.ADD if mapping is None else ChangeKind.CHANGE,
            stage=Stage.ACCESS,
            steps=(step,),
        )


def access_ready_step(region: str, changes: tuple[ProxmoxChange, ...]) -> Step | None:
    """Return the step that everything else waits for. None: access matches."""
    needs = tuple(
        step.id
        for change in changes
        for step in change.steps
        if not step.id.startswith(REVOKING_ACTIONS)
    )
    if not needs:
        return None
    return _access_step(
        f"access/ready/{region}",
        Checkpoint(text=f"access to Proxmox cluster {region} is ready"),
        "everything else only uses the token of stockman",
        needs,
    )


def check_rights(
    desired: Desired, cluster: ProxmoxCluster, observed: ObservedProxmox, problems: Problems
) -> None:
    """Report privileges that the token of stockman lacks, by path."""
    if not isinstance(observed.rights, Fact) or observed.major is None:
        return
    held = observed.rights.value
    for need in stockman_privileges(desired, cluster, observed.major):
        lacked = need.lacking(held)
        if lacked:
            at = cluster.where("token_id")
            why = (
                f"the machines of the configuration cannot be created in {observed.name} without it"
            )
            missing_privilege(problems, need.path, lacked, why, at)


def check_token_not_in_use(
    desired: DesiredToken, access: ObservedAccess, unkept: frozenset[str], owners: tuple[str, ...]
) -> Problem | None:
    """Return why an existing token must not be recreated. None: no other cluster uses it."""
    tokens = access.tokens.get(desired.user, ())
    current = desired.latest(tokens)
    exists = any(token.name == current.token for token in tokens)
    if exists and owners and current.secret.place in unkept:
        return token_in_use(current.id, owners)
    return None


def check_token_expiry(
    desired: DesiredToken, access: Fact[ObservedAccess], problems: Problems
) -> None:
    """Report a token that has expired or expires soon; tokens of stockman never expire."""
    tokens = access.value.tokens.get(desired.user, ())
    current = desired.latest(tokens)
    for token in tokens:
        if token.name != current.token or not token.expires:
            continue
        end = datetime.fromtimestamp(token.expires, UTC)
        if end - access.seen <= _EXPIRES_SOON:
            token_expires(problems, current.id, desired.owner, end, access.seen)


def check_login(
    observed: ObservedProxmox,
    access: Fact[ObservedAccess],
    desired: DesiredToken,
    problems: Problems,
) -> None:
    """Report a disabled user, and a token of stockman whose secret does not match."""
    user = next(
        (known_user for known_user in access.value.users if known_user.id == desired.user), None
    )
    if user is None:
        return
    if not user.enabled:
        inactive_user(problems, user.id, desired.owner, "it is not enabled")
        return
    if user.expires and user.expires <= access.seen.timestamp():
        end = datetime.fromtimestamp(user.expires, UTC)
        inactive_user(problems, user.id, desired.owner, f"it expired at {end:%Y-%m-%d %H:%M} UTC")
        return
    tokens = access.value.tokens.get(desired.user, ())
    current = desired.latest(tokens)
    token = next((token for token in tokens if token.name == current.token), None)
    if token is None or desired.owner != OWNER or observed.rejection is None:
        return
    if not token.expires or token.expires > access.seen.timestamp():
        token_secret_mismatch(problems, current.id, desired.owner)


def _access_step(name: str, action: Action, why: str, needs: tuple[str, ...] = ()) -> Step:
    return Step(id=name, action=action, stage=Stage.ACCESS, reason=why, needs=needs, seconds=1.0)
