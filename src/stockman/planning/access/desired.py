"""The desired users, tokens and roles in a Proxmox cluster, of stockman and of components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stockman.catalog.registry import component, components
from stockman.catalog.selection import active_components
from stockman.model.desired import Desired
from stockman.model.proxmox import OWN_TOKEN, ProxmoxCluster
from stockman.model.record import record
from stockman.planning.vm.desired import secret_ref_for
from stockman.planning.vm.requirements import host_requirements
from stockman.proxmox.access import AccessToken
from stockman.proxmox.privileges import ZONE, ZONES, RequiredPrivileges, provisioning_privileges
from stockman.steps.secret_ref import SecretRef

OWNER = "stockman"
"""Owner of the token that stockman itself uses."""
TOKEN_COMMENT = ", by stockman"
"""Suffix of the comments of users and tokens that stockman creates."""
_ROLES = {
    "/": "StockmanCluster",
    "/mapping/pci": "StockmanPci",
    "/mapping/usb": "StockmanUsb",
    "/nodes": "StockmanHosts",
    "/pool": "StockmanPools",
    "/storage": "StockmanStorages",
    "/vms": "StockmanGuests",
    ZONE: "StockmanNetworks",
}
OWN_ROLES = frozenset(_ROLES.values())
"""Roles of stockman's own token."""
_PRIVILEGES_SINCE_9 = 9


def stockman_role_names() -> frozenset[str]:
    """Return the roles that stockman creates, for any configuration."""
    accesses = (entry.proxmox for entry in components())
    return OWN_ROLES | {access.role for access in accesses if access is not None}


def successor_comment(owner: str, name: str) -> str:
    """Return the comment of a token that replaces another one."""
    return f"{owner}{TOKEN_COMMENT}, follows {name}"


def token_generation(token: AccessToken, first: str) -> int:
    """Return how often a token was renewed: 0 is the first. -1: it is another token."""
    if token.name == first:
        return 0
    name, _, number = token.name.rpartition("-")
    is_ours = name == first and number.isdigit() and token.comment.endswith(f"follows {first}")
    return int(number) - 1 if is_ours else -1


def token_generations(tokens: Iterable[AccessToken], first: str) -> tuple[AccessToken, ...]:
    """Return a token and its successors, the oldest first."""
    own = [token for token in tokens if token_generation(token, first) >= 0]
    return tuple(sorted(own, key=lambda token: token_generation(token, first)))


@record
class DesiredRole:
    """A role and the paths where it is granted."""

    name: str
    privileges: tuple[str, ...]
    paths: tuple[str, ...]

    @property
    def propagates(self) -> bool:
        """The role on the whole cluster does not propagate; all others do."""
        return self.name != _ROLES["/"]


@record
class DesiredToken:
    """A user with one token and its roles."""

    owner: str
    user: str
    token: str
    secret: SecretRef
    roles: tuple[DesiredRole, ...]

    @property
    def id(self) -> str:
        return f"{self.user}!{self.token}"

    def latest(self, tokens: Iterable[AccessToken]) -> DesiredToken:
        """Return this token under its latest name, as it may have been renewed."""
        known = token_generations(tokens, self.token)
        return replace(self, token=known[-1].name) if known else self


def stockman_privileges(
    desired: Desired, cluster: ProxmoxCluster, major: int
) -> tuple[RequiredPrivileges, ...]:
    """Return the privileges that the token of stockman needs."""
    return provisioning_privileges(major, host_requirements(desired, cluster).vms)


def list_desired_tokens(
    desired: Desired, cluster: ProxmoxCluster, major: int
) -> tuple[DesiredToken, ...]:
    """Return the tokens of all that act in a cluster; root needs none."""
    return tuple(_iter_desired_tokens(desired, cluster, major))


def _iter_desired_tokens(
    desired: Desired, cluster: ProxmoxCluster, major: int
) -> Iterator[DesiredToken]:
    user, _, token = (cluster.token_id or OWN_TOKEN).partition("!")
    if user != "root@pam":
        roles = tuple(_own_roles(stockman_privileges(desired, cluster, major)))
        default = f"token:{cluster.region}/{user}!{token}"
        yield DesiredToken(
            owner=OWNER,
            user=user,
            token=token,
            secret=secret_ref_for(cluster.token_secret, default),
            roles=roles,
        )
    for name in active_components(desired):
        desired_token = _component_token(desired, cluster, name, major)
        if desired_token is not None:
            yield desired_token


def _own_roles(needs: Iterable[RequiredPrivileges]) -> Iterator[DesiredRole]:
    """Yield roles; that for networks is granted on each zone."""
    zones = [need for need in needs if need.path.startswith(f"{ZONES}/")]
    for need in needs:
        if need in zones[1:]:
            continue
        paths = tuple(zone.path for zone in zones) if need in zones else (need.path,)
        name = _ROLES[ZONE] if need in zones else _ROLES[need.path]
        yield DesiredRole(name=name, privileges=tuple(sorted(need.privileges)), paths=paths)


def _component_token(
    desired: Desired, cluster: ProxmoxCluster, name: str, major: int
) -> DesiredToken | None:
    settings = desired.components[name]
    access = component(name).proxmox_access(settings)
    if access is None:
        return None
    user, _, token = (settings.token_id or f"{access.user}!{access.token}").partition("!")
    first = desired.proxmox[0].region == cluster.region
    secret = settings.secrets.get(f"token-{cluster.region}") or (
        settings.token_secret if first else None
    )
    extra = access.privileges_from_9 if major >= _PRIVILEGES_SINCE_9 else ()
    role = DesiredRole(
        name=access.role,
        privileges=tuple(sorted({*access.privileges, *extra})),
        paths=access.paths,
    )
    return DesiredToken(
        owner=name,
        user=user,
        token=token,
        secret=secret_ref_for(secret, f"token:{cluster.region}/{user}!{token}"),
        roles=(role,),
    )
