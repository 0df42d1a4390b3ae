"""Who should have which rights in a Proxmox cluster: stockman itself, and components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stockman.catalog.registry import component, components
from stockman.catalog.selection import enabled
from stockman.model.desired import Desired
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.planning.proxmox_needs import needs_of
from stockman.planning.vm_wanted import secret_place
from stockman.ports.proxmox.access import AccessToken
from stockman.proxmox.rights import ZONE, Need, provisioning
from stockman.steps.secret_ref import SecretRef

OWNER = "stockman"
"""Who has the token that everything is done with, beside the components."""
BY_STOCKMAN = ", by stockman"
"""How comments of users and tokens end that stockman made."""
OWN_TOKEN = "stockman@pve!stockman"
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
_FROM_9 = 9


def role_names() -> frozenset[str]:
    """Roles that stockman makes, for whatever configuration."""
    accesses = (one.proxmox for one in components())
    return OWN_ROLES | {one.role for one in accesses if one is not None}


def follower_comment(whose: str, name: str) -> str:
    """What stands at a token that came in the place of another; nobody else writes it so."""
    return f"{whose}{BY_STOCKMAN}, follows {name}"


def generation(token: AccessToken, first: str) -> int:
    """How often a token was renewed: 0 is the first. -1: it is another one."""
    if token.name == first:
        return 0
    name, _, number = token.name.rpartition("-")
    is_ours = name == first and number.isdigit() and token.comment.endswith(f"follows {first}")
    return int(number) - 1 if is_ours else -1


def family(tokens: Iterable[AccessToken], first: str) -> tuple[AccessToken, ...]:
    """A token and those that came in its place, the oldest first."""
    own = [one for one in tokens if generation(one, first) >= 0]
    return tuple(sorted(own, key=lambda one: generation(one, first)))


@record
class RoleWish:
    """A role and where it is given."""

    name: str
    privileges: tuple[str, ...]
    paths: tuple[str, ...]

    @property
    def propagates(self) -> bool:
        """The role on the whole cluster is for that alone; others hold below their path too."""
        return self.name != _ROLES["/"]


@record
class TokenWish:
    """A user with one token and its roles."""

    whose: str
    user: str
    token: str
    secret: SecretRef
    roles: tuple[RoleWish, ...]

    @property
    def id(self) -> str:
        return f"{self.user}!{self.token}"

    def as_found(self, tokens: Iterable[AccessToken]) -> TokenWish:
        """The same wish for the token that is there, which may have been renewed."""
        known = family(tokens, self.token)
        return replace(self, token=known[-1].name) if known else self


def own_needs(desired: Desired, cluster: ProxmoxCluster, major: int) -> tuple[Need, ...]:
    """What the token of stockman needs."""
    return provisioning(major, needs_of(desired, cluster).wish)


def token_wishes(desired: Desired, cluster: ProxmoxCluster, major: int) -> tuple[TokenWish, ...]:
    """Everybody who acts in a cluster; root needs nothing and is left alone."""
    return tuple(_wishes(desired, cluster, major))


def _wishes(desired: Desired, cluster: ProxmoxCluster, major: int) -> Iterator[TokenWish]:
    user, _, token = (cluster.token_id or OWN_TOKEN).partition("!")
    if user != "root@pam":
        roles = tuple(
            RoleWish(
                name=_ROLES[need.path],
                privileges=tuple(sorted(need.privileges)),
                paths=(need.path,),
            )
            for need in own_needs(desired, cluster, major)
        )
        place = f"token:{cluster.region}/{user}!{token}"
        yield TokenWish(
            whose=OWNER,
            user=user,
            token=token,
            secret=secret_place(cluster.token_secret, place),
            roles=roles,
        )
    for name in enabled(desired):
        found = _of_component(desired, cluster, name, major)
        if found is not None:
            yield found


def _of_component(
    desired: Desired, cluster: ProxmoxCluster, name: str, major: int
) -> TokenWish | None:
    access = component(name).proxmox
    wish = desired.components[name]
    if access is None:
        return None
    user, _, token = (wish.token_id or f"{access.user}!{access.token}").partition("!")
    first = desired.proxmox[0].region == cluster.region
    secret = wish.secrets.get(f"token-{cluster.region}") or (wish.token_secret if first else None)
    more = access.privileges_from_9 if major >= _FROM_9 else ()
    role = RoleWish(
        name=access.role,
        privileges=tuple(sorted({*access.privileges, *more})),
        paths=access.paths,
    )
    return TokenWish(
        whose=name,
        user=user,
        token=token,
        secret=secret_place(secret, f"token:{cluster.region}/{user}!{token}"),
        roles=(role,),
    )
