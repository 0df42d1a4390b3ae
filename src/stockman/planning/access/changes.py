"""Access: roles, users, tokens and mappings of devices, made once by an administrator."""

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
"""How ids of steps begin that take rights away."""
_MAX_LISTED = 3
_EXPIRES_SOON = timedelta(days=14)
"""Reasons that a change names; each step has its own."""


def token_changes(
    seen: ObservedProxmox,
    access: ObservedAccess,
    wish: DesiredToken,
    unkept: frozenset[str],
    owners: tuple[str, ...] = (),
) -> Iterator[ProxmoxChange]:
    """What one user and its token lack. `unkept` are places without a secret.

    `owners` are others who work with the same roles: nothing is taken away from them.
    """
    first, wish = wish.token, wish.as_found(access.tokens.get(wish.user, ()))
    is_renewed = wish.token != first
    comment = f"{wish.whose}{TOKEN_COMMENT}"
    region, before = seen.name, f"access/user/{seen.name}/{wish.user}"
    made: list[Step] = []
    reasons: list[str] = []
    if all(one.id != wish.user for one in access.users):
        reasons.append(f"there is no user {wish.user}")
        user = CreateUser(cluster=region, user=wish.user, comment=comment)
        made.append(_access_step(before, user, reasons[-1]))
    for role in wish.roles:
        made += _role_steps(region, access, role, reasons, is_shared=bool(owners))
    done = {step.id for step in made}
    tokens = access.tokens.get(wish.user, ())
    is_there = any(one.name == wish.token for one in tokens)
    if not is_there or wish.secret.place in unkept:
        lacking = f"there is no token {wish.id}"
        reasons.append(lacking if not is_there else f"the secret of {wish.id} is not kept")
        token = CreateToken(
            cluster=region,
            user=wish.user,
            token=wish.token,
            secret=wish.secret,
            comment=successor_comment(wish.whose, first) if is_renewed else comment,
            whole=is_renewed,
        )
        needs = (before,) if before in done else ()
        made.append(_access_step(f"access/token/{region}/{wish.id}", token, reasons[-1], needs))
    made += _grant_steps(region, access, wish, {step.id for step in made}, reasons)
    if made:
        yield ProxmoxChange(
            region=region,
            what=f"access of {wish.whose} to {region} as {wish.id}",
            why=_shorten(reasons),
            mark=ChangeKind.CHANGE if is_there else ChangeKind.ADD,
            stage=Stage.ACCESS,
            steps=tuple(made),
        )


def _shorten(reasons: list[str]) -> str:
    shown = "; ".join(reasons[:_MAX_LISTED])
    return (
        f"{shown}; and {len(reasons) - _MAX_LISTED} more" if len(reasons) > _MAX_LISTED else shown
    )


def _role_steps(
    region: str, access: ObservedAccess, role: DesiredRole, reasons: list[str], *, is_shared: bool
) -> Iterator[Step]:
    found = next((one for one in access.roles if one.name == role.name), None)
    wanted = frozenset(role.privileges)
    if found is not None and is_shared:
        wanted |= found.privileges
        role = replace(role, privileges=tuple(sorted(wanted)))
    if found is not None and found.privileges == wanted:
        return
    if found is None:
        why = f"there is no role {role.name}"
    else:
        more, less = sorted(wanted - found.privileges), sorted(found.privileges - wanted)
        few = (f"lacks {', '.join(more)}",) if more else ()
        many = (f"has {', '.join(less)}, which is not needed",) if less else ()
        why = f"role {role.name} {' and '.join((*few, *many))}"
    reasons.append(why)
    exact = CreateRole(cluster=region, role=role.name, privileges=role.privileges)
    if found is None or found.privileges <= wanted:
        yield _access_step(f"access/role/{region}/{role.name}", exact, why)
        return
    # What is too much may be what the rest of this plan still needs, so it is taken away last.
    if more:
        both = tuple(sorted(wanted | found.privileges))
        wider = CreateRole(cluster=region, role=role.name, privileges=both)
        yield _access_step(f"access/role/{region}/{role.name}", wider, why)
    narrow = _access_step(f"{REVOKING_ACTIONS}{region}/{role.name}", exact, why)
    yield replace(narrow, stage=Stage.VMS)


def _grant_steps(
    region: str, access: ObservedAccess, wish: DesiredToken, planned: set[str], reasons: list[str]
) -> Iterator[Step]:
    holders: tuple[tuple[Holder, str], ...] = (("user", wish.user), ("token", wish.id))
    for role in wish.roles:
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
                token = f"access/token/{region}/{wish.id}"
                is_new = kind == "token" and token in planned
                if grant.rule in access.rules and not is_new:
                    continue
                why = f"{holder} has no role {role.name} on {path}"
                reasons.append(why)
                needed = (
                    f"access/user/{region}/{wish.user}",
                    f"access/role/{region}/{role.name}",
                    token,
                )
                needs = tuple(one for one in needed if one in planned)
                yield _access_step(
                    f"access/grant/{region}{path} {holder} {role.name}", grant, why, needs
                )


def list_desired_mappings(
    desired: Desired, cluster: ProxmoxCluster, seen: ObservedProxmox
) -> tuple[MapDevices, ...]:
    """Mappings of devices that the files describe for hosts of this cluster."""
    devices: defaultdict[tuple[str, str], list[MappedDevice]] = defaultdict(list)
    told: dict[tuple[str, str], str] = {}
    for name, host in desired.hosts.items():
        if host.passthrough is None or not (seen.has_host(name) or name in cluster.hosts):
            continue
        for pci in host.passthrough.pci:
            devices["pci", pci.name].append(
                MappedDevice(host=HostName(name), place=pci.address, id=pci.id or "")
            )
            told.setdefault(("pci", pci.name), pci.description)
        for usb in host.passthrough.usb:
            devices["usb", usb.name].append(MappedDevice(host=HostName(name), place=usb.id))
            told.setdefault(("usb", usb.name), usb.description)
    return tuple(
        MapDevices(
            cluster=seen.name,
            name=name,
            bus="pci" if bus == "pci" else "usb",
            devices=tuple(found),
            description=told[bus, name],
        )
        for (bus, name), found in devices.items()
    )


def mapping_hosts(wishes: tuple[MapDevices, ...]) -> Mapping[str, frozenset[str]]:
    """Hosts of the mappings that the plan makes, by `pci/NAME`."""
    return {f"{one.bus}/{one.name}": frozenset(d.host for d in one.devices) for one in wishes}


def mapping_changes(
    seen: ObservedProxmox, wishes: tuple[MapDevices, ...]
) -> Iterator[ProxmoxChange]:
    """Mappings that are not there, or do not name all devices."""
    for wish in wishes:
        fact = seen.pci if wish.bus == "pci" else seen.usb
        if not isinstance(fact, Fact):
            continue  # What nobody could look at is not missing.
        known: tuple[DeviceMapping, ...] = fact.value
        found = next((one for one in known if one.name == wish.name), None)
        if found is not None and all(is_mapped(found, one) for one in wish.devices):
            continue
        why = "there is no such mapping" if found is None else "it does not name these devices"
        step = _access_step(f"access/mapping/{seen.name}/{wish.bus}/{wish.name}", wish, why)
        yield ProxmoxChange(
            region=seen.name,
            what=f"{wish.bus.upper()} mapping {wish.name}",
            why=why,
            mark=ChangeKind.ADD if found is None else ChangeKind.CHANGE,
            stage=Stage.ACCESS,
            steps=(step,),
        )


def access_ready_step(region: str, changes: tuple[ProxmoxChange, ...]) -> Step | None:
    """The step that everything else waits for. None: access is as it should be."""
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
        "everything else is done with the token of stockman alone",
        needs,
    )


def check_rights(
    desired: Desired, cluster: ProxmoxCluster, seen: ObservedProxmox, problems: Problems
) -> None:
    """Report privileges that the token of stockman lacks, each with its path."""
    if not isinstance(seen.rights, Fact) or seen.major is None:
        return
    held = seen.rights.value
    for need in stockman_privileges(desired, cluster, seen.major):
        lacked = need.privileges - held.get(need.path, frozenset())
        if lacked and need.alternatives and all(path in held for path in need.alternatives):
            below = (need.privileges - held[path] for path in need.alternatives)
            lacked = frozenset[str]().union(*below)
        if lacked:
            at = cluster.where("token_id")
            why = f"the machines of the configuration cannot be made in {seen.name} without"
            missing_privilege(problems, need.path, lacked, why, at)


def check_token_not_in_use(
    wish: DesiredToken, access: ObservedAccess, unkept: frozenset[str], owners: tuple[str, ...]
) -> Problem | None:
    """Why a token that is there must not be made anew. None: nobody else works with it."""
    there = access.tokens.get(wish.user, ())
    found = wish.as_found(there)
    is_there = any(one.name == found.token for one in there)
    if is_there and owners and found.secret.place in unkept:
        return token_in_use(found.id, owners)
    return None


def check_token_expiry(
    wish: DesiredToken, access: Fact[ObservedAccess], problems: Problems
) -> None:
    """Report a token that has expired or soon does; tokens of stockman are made without an end."""
    there = access.value.tokens.get(wish.user, ())
    found = wish.as_found(there)
    for one in there:
        if one.name != found.token or not one.expires:
            continue
        end = datetime.fromtimestamp(one.expires, UTC)
        if end - access.seen <= _EXPIRES_SOON:
            token_expires(problems, found.id, wish.whose, end, access.seen)


def check_login(
    seen: ObservedProxmox, access: Fact[ObservedAccess], wish: DesiredToken, problems: Problems
) -> None:
    """Report a user that is switched off, and a token of stockman whose secret is another."""
    user = next((one for one in access.value.users if one.id == wish.user), None)
    if user is None:
        return
    if not user.enabled:
        inactive_user(problems, user.id, wish.whose, "it is not enabled")
        return
    if user.expires and user.expires <= access.seen.timestamp():
        end = datetime.fromtimestamp(user.expires, UTC)
        inactive_user(problems, user.id, wish.whose, f"it ended at {end:%Y-%m-%d %H:%M} UTC")
        return
    there = access.value.tokens.get(wish.user, ())
    found = wish.as_found(there)
    token = next((one for one in there if one.name == found.token), None)
    if token is None or wish.whose != OWNER or seen.turned_away is None:
        return
    if not token.expires or token.expires > access.seen.timestamp():
        token_secret_mismatch(problems, found.id, wish.whose)


def _access_step(name: str, action: Action, why: str, needs: tuple[str, ...] = ()) -> Step:
    return Step(id=name, action=action, stage=Stage.ACCESS, reason=why, needs=needs, seconds=1.0)
