"""Who should have which rights in a Proxmox cluster: stockman itself, and components."""

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
from stockman.proxmox.privileges import ZONE, RequiredPrivileges, provisioning_privileges
from stockman.steps.secret_ref import SecretRef

OWNER = "stockman"
"""Who has the token that everything is done with, beside the components."""
TOKEN_COMMENT = ", by stockman"
"""How comments of users and tokens end that stockman made."""
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
    """Roles that stockman makes, for whatever configuration."""
    accesses = (one.proxmox for one in components())
    return OWN_ROLES | {one.role for one in accesses if one is not None}


def successor_comment(whose: str, name: str) -> str:
    """What stands at a token that came in the place of another; nobody else writes it so."""
    return f"{whose}{TOKEN_COMMENT}, follows {name}"


def token_generation(token: AccessToken, first: str) -> int:
    """How often a token was renewed: 0 is the first. -1: it is another one."""
    if token.name == first:
        return 0
    name, _, number = token.name.rpartition("-")
    is_ours = name == first and number.isdigit() and token.comment.endswith(f"follows {first}")
    return int(number) - 1 if is_ours else -1


def token_generations(tokens: Iterable[AccessToken], first: str) -> tuple[AccessToken, ...]:
    """A token and those that came in its place, the oldest first."""
    own = [one for one in tokens if token_generation(one, first) >= 0]
    return tuple(sorted(own, key=lambda one: token_generation(one, first)))


@record
class DesiredRole:
    """A role and where it is given."""

    name: str
    privileges: tuple[str, ...]
    paths: tuple[str, ...]

    @property
    def propagates(self) -> bool:
        """The role on the whole cluster is for that alone; others hold below their path too."""
        return self.name != _ROLES["/"]


@record
class DesiredToken:
    """A user with one token and its roles."""

    whose: str
    user: str
    token: str
    secret: SecretRef
    roles: tuple[DesiredRole, ...]

    @property
    def id(self) -> str:
        return f"{self.user}!{self.token}"

    def as_found(self, tokens: Iterable[AccessToken]) -> DesiredToken:
        """The same wish for the token that is there, which may have been renewed."""
        known = token_generations(tokens, self.token)
        return replace(self, token=known[-1].name) if known else self


def stockman_privileges(
    desired: Desired, cluster: ProxmoxCluster, major: int
) -> tuple[RequiredPrivileges, ...]:
    """What the token of stockman needs."""
    return provisioning_privileges(major, host_requirements(desired, cluster).wish)


def list_desired_tokens(
    desired: Desired, cluster: ProxmoxCluster, major: int
) -> tuple[DesiredToken, ...]:
    """Everybody who acts in a cluster; root needs nothing and is left alone."""
    return tuple(_iter_desired_tokens(desired, cluster, major))


def _iter_desired_tokens(
    desired: Desired, cluster: ProxmoxCluster, major: int
) -> Iterator[DesiredToken]:
    user, _, token = (cluster.token_id or OWN_TOKEN).partition("!")
    if user != "root@pam":
        roles = tuple(
            DesiredRole(
                name=_ROLES[need.path],
                privileges=tuple(sorted(need.privileges)),
                paths=(need.path,),
            )
            for need in stockman_privileges(desired, cluster, major)
        )
        place = f"token:{cluster.region}/{user}!{token}"
        yield DesiredToken(
            whose=OWNER,
            user=user,
            token=token,
            secret=secret_ref_for(cluster.token_secret, place),
            roles=roles,
        )
    for name in active_components(desired):
        found = _component_token(desired, cluster, name, major)
        if found is not None:
            yield found


def _component_token(
    desired: Desired, cluster: ProxmoxCluster, name: str, major: int
) -> DesiredToken | None:
    access = component(name).proxmox
    wish = desired.components[name]
    if access is None:
        return None
    user, _, token = (wish.token_id or f"{access.user}!{access.token}").partition("!")
    first = desired.proxmox[0].region == cluster.region
    secret = wish.secrets.get(f"token-{cluster.region}") or (wish.token_secret if first else None)
    more = access.privileges_from_9 if major >= _PRIVILEGES_SINCE_9 else ()
    role = DesiredRole(
        name=access.role,
        privileges=tuple(sorted({*access.privileges, *more})),
        paths=access.paths,
    )
    return DesiredToken(
        whose=name,
        user=user,
        token=token,
        secret=secret_ref_for(secret, f"token:{cluster.region}/{user}!{token}"),
        roles=(role,),
    )
