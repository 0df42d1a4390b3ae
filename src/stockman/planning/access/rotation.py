"""New tokens for old ones: of stockman itself, and of components."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import count

from stockman.catalog.proxmox_config import KEY
from stockman.catalog.registry import component
from stockman.catalog.selection import active_components
from stockman.model.component import find_component_facts as known_component
from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.planning.access import problems as say
from stockman.planning.access.desired import (
    DesiredToken,
    list_desired_tokens,
    successor_comment,
    token_generation,
    token_generations,
)
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ObservedAccess, ObservedProxmox
from stockman.steps.access.delivery import RestartReaders, SecretDelivered, TokenDelivered
from stockman.steps.access.tokens import DeleteToken, RenewToken, TokenGrant
from stockman.steps.step import Stage, Step

_RELOADER = "reloader"
_RELOADER_ANNOTATIONS = 60.0
"""Seconds in which reloader, where it is on, restarts what reads a Secret."""
_DELIVERY_DEADLINE = 3600.0
"""Seconds that the cluster has to take up what was pushed."""


def plan_rotation(
    desired: Desired,
    observed: Mapping[str, ObservedProxmox],
    names: Collection[str],
    problems: Problems,
    *,
    in_cluster: bool = True,
) -> tuple[ProxmoxChange, ...]:
    """What it takes to renew tokens: those of `names`, or all where it is empty.

    A name is who has the token (`stockman`, `proxmox-csi`) or its id. Old tokens go once the new
    one is kept and, with `in_cluster`, once components work with it. An administrator has to have
    looked, since nobody else makes tokens.
    """
    found: list[ProxmoxChange] = []
    known: set[str] = set()
    for cluster in desired.proxmox:
        seen = observed.get(str(cluster.region))
        if seen is None:
            continue
        if not isinstance(seen.access, Fact) or seen.major is None:
            _rotation_problems(seen, problems)
            continue
        for wish in list_desired_tokens(desired, cluster, seen.major):
            known |= {wish.whose, wish.id}
            if not names or {wish.whose, wish.id} & set(names):
                found += _renewal_change(desired, seen.name, seen.access.value, wish, in_cluster)
    for name in sorted(set(names) - known) if known else ():
        say.unknown_token(problems, name, sorted(known))
    return tuple(found)


def _rotation_problems(seen: ObservedProxmox, problems: Problems) -> None:
    for part in (seen.version, seen.access):
        if isinstance(part, Unknown):
            problems.add(part.problem)
            return
    say.administrator_missing(problems, seen.name)


def _renewal_change(
    desired: Desired, region: str, access: ObservedAccess, wish: DesiredToken, in_cluster: bool
) -> Iterator[ProxmoxChange]:
    there = access.tokens.get(wish.user, ())
    old = token_generations(there, wish.token)
    if not old:
        return
    taken = {one.name for one in there}
    numbers = count(token_generation(old[-1], wish.token) + 2)
    new = next(name for number in numbers if (name := f"{wish.token}-{number}") not in taken)
    renew = Step(
        id=f"access/renew/{region}/{wish.user}!{new}",
        action=RenewToken(
            cluster=region,
            user=wish.user,
            token=new,
            secret=wish.secret,
            comment=successor_comment(wish.whose, wish.token),
            grants=tuple(_grants(wish)),
        ),
        stage=Stage.ACCESS,
        reason=f"{wish.user}!{old[-1].name} is to be replaced",
        seconds=3.0,
    )
    delivered = _delivery_steps(desired, wish, f"{wish.user}!{new}") if in_cluster else None
    gates = (delivered,) if delivered is not None else ()
    restarts = (_restart_step(desired, region, delivered, renew),) if delivered is not None else ()
    drops = tuple(
        Step(
            id=f"access/drop/{region}/{wish.user}!{one.name}",
            action=DeleteToken(cluster=region, user=wish.user, token=one.name, kept=wish.secret),
            stage=Stage.KUBERNETES if gates else Stage.ACCESS,
            reason=f"{wish.user}!{new} comes in its place",
            gates=gates,
            needs=(renew.id, *(step.id for step in restarts)),
            deadline=_DELIVERY_DEADLINE,
            seconds=1.0,
        )
        for one in old
    )
    yield ProxmoxChange(
        region=region,
        what=f"token {wish.user}!{new} of {wish.whose} in {region}",
        why=renew.reason,
        mark=ChangeKind.CHANGE,
        stage=Stage.ACCESS,
        destroys="; ".join(step.action.destroys for step in drops),
        steps=(renew, *restarts, *drops),
    )


def _grants(wish: DesiredToken) -> Iterator[TokenGrant]:
    for role in wish.roles:
        for path in role.paths:
            yield TokenGrant(
                path=path,
                role=role.name,
                privileges=role.privileges,
                propagate=role.propagates,
            )


def _delivery_steps(desired: Desired, wish: DesiredToken, token: str) -> TokenDelivered | None:
    """What has to be seen of a component. None: stockman itself, which reads its token anew."""
    settings = desired.components.get(wish.whose)
    if settings is None or component(wish.whose).proxmox is None:
        return None
    known = known_component(wish.whose)
    return TokenDelivered(
        namespace=settings.namespace or (known.namespace if known is not None else ""),
        secret=f"{wish.whose}-config",
        key=KEY,
        token=token,
    )


def _restart_step(desired: Desired, region: str, place: TokenDelivered, renew: Step) -> Step:
    """Pods of a component begin anew once the cluster has its new token."""
    gate = SecretDelivered(
        namespace=place.namespace, secret=place.secret, key=place.key, token=place.token
    )
    by_reloader = _RELOADER in active_components(desired)
    return Step(
        id=f"access/restart/{region}/{place.token}",
        action=RestartReaders(
            namespace=place.namespace,
            secret=place.secret,
            key=place.key,
            token=place.token,
            alone=_RELOADER_ANNOTATIONS if by_reloader else 0.0,
        ),
        stage=Stage.KUBERNETES,
        reason="programs read their token when they start",
        gates=(gate,),
        needs=(renew.id,),
        deadline=_DELIVERY_DEADLINE,
        seconds=60.0,
    )
