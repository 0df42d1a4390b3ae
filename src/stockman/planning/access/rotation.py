"""Plans the rotation of tokens, of stockman itself and of components."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import count

from stockman.catalog.proxmox_config import KEY
from stockman.catalog.registry import component
from stockman.catalog.selection import active_components
from stockman.model.component import find_component_facts as known_component
from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.planning.access import problems as report
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
"""Seconds in which reloader, if enabled, restarts the readers of a Secret."""
_DELIVERY_DEADLINE = 3600.0
"""Seconds that the cluster has to apply what was pushed."""


def plan_rotation(
    desired: Desired,
    observed: Mapping[str, ObservedProxmox],
    names: Collection[str],
    problems: Problems,
    *,
    in_cluster: bool = True,
) -> tuple[ProxmoxChange, ...]:
    """Plan the renewal of tokens: those in `names`, or all if it is empty.

    A name is the owner of the token (`stockman`, `proxmox-csi`) or its id. Old tokens are deleted
    after the new one is stored and, with `in_cluster`, after components use it. The state must
    have been observed by an administrator, as nobody else may create tokens.
    """
    changes: list[ProxmoxChange] = []
    known: set[str] = set()
    for cluster in desired.proxmox:
        cluster_state = observed.get(str(cluster.region))
        if cluster_state is None:
            continue
        if not isinstance(cluster_state.access, Fact) or cluster_state.major is None:
            _rotation_problems(cluster_state, problems)
            continue
        for desired_token in list_desired_tokens(desired, cluster, cluster_state.major):
            known |= {desired_token.owner, desired_token.id}
            if not names or {desired_token.owner, desired_token.id} & set(names):
                changes += _renewal_change(
                    desired,
                    cluster_state.name,
                    cluster_state.access.value,
                    desired_token,
                    in_cluster,
                )
    for name in sorted(set(names) - known) if known else ():
        report.unknown_token(problems, name, sorted(known))
    return tuple(changes)


def _rotation_problems(observed: ObservedProxmox, problems: Problems) -> None:
    for fact in (observed.version, observed.access):
        if isinstance(fact, Unknown):
            problems.add(fact.problem)
            return
    report.administrator_missing(problems, observed.name)


def _renewal_change(
    desired: Desired,
    region: str,
    access: ObservedAccess,
    desired_token: DesiredToken,
    in_cluster: bool,
) -> Iterator[ProxmoxChange]:
    existing = access.tokens.get(desired_token.user, ())
    old = token_generations(existing, desired_token.token)
    if not old:
        return
    taken = {token.name for token in existing}
    numbers = count(token_generation(old[-1], desired_token.token) + 2)
    new = next(
        name for number in numbers if (name := f"{desired_token.token}-{number}") not in taken
    )
    renew = Step(
        id=f"access/renew/{region}/{desired_token.user}!{new}",
        action=RenewToken(
            cluster=region,
            user=desired_token.user,
            token=new,
            secret=desired_token.secret,
            comment=successor_comment(desired_token.owner, desired_token.token),
            grants=tuple(_grants(desired_token)),
        ),
        stage=Stage.ACCESS,
        reason=f"{desired_token.user}!{old[-1].name} is being replaced",
        seconds=3.0,
    )
    delivered = (
        _delivery_steps(desired, desired_token, f"{desired_token.user}!{new}")
        if in_cluster
        else None
    )
    gates = (delivered,) if delivered is not None else ()
    restarts = (_restart_step(desired, region, delivered, renew),) if delivered is not None else ()
    drops = tuple(
        Step(
            id=f"access/drop/{region}/{desired_token.user}!{token.name}",
            action=DeleteToken(
                cluster=region, user=desired_token.user, token=token.name, kept=desired_token.secret
            ),
            stage=Stage.KUBERNETES if gates else Stage.ACCESS,
            reason=f"{desired_token.user}!{new} replaces it",
            gates=gates,
            needs=(renew.id, *(step.id for step in restarts)),
            deadline=_DELIVERY_DEADLINE,
            seconds=1.0,
        )
        for token in old
    )
    yield ProxmoxChange(
        region=region,
        what=f"token {desired_token.user}!{new} of {desired_token.owner} in {region}",
        why=renew.reason,
        mark=ChangeKind.CHANGE,
        stage=Stage.ACCESS,
        destroys="; ".join(step.action.destroys for step in drops),
        steps=(renew, *restarts, *drops),
    )


def _grants(desired_token: DesiredToken) -> Iterator[TokenGrant]:
    for role in desired_token.roles:
        for path in role.paths:
            yield TokenGrant(
                path=path,
                role=role.name,
                privileges=role.privileges,
                propagate=role.propagates,
            )


def _delivery_steps(
    desired: Desired, desired_token: DesiredToken, token: str
) -> TokenDelivered | None:
    """Return what must be delivered to a component. None: stockman itself, which reads its token
    anew."""
    settings = desired.components.get(desired_token.owner)
    if settings is None or component(desired_token.owner).proxmox is None:
        return None
    known = known_component(desired_token.owner)
    return TokenDelivered(
        namespace=settings.namespace or (known.namespace if known is not None else ""),
        secret=f"{desired_token.owner}-config",
        key=KEY,
        token=token,
    )


def _restart_step(desired: Desired, region: str, delivered: TokenDelivered, renew: Step) -> Step:
    """Return the step that restarts the pods of a component after the cluster has its new token."""
    gate = SecretDelivered(
        namespace=delivered.namespace,
        secret=delivered.secret,
        key=delivered.key,
        token=delivered.token,
    )
    by_reloader = _RELOADER in active_components(desired)
    return Step(
        id=f"access/restart/{region}/{delivered.token}",
        action=RestartReaders(
            namespace=delivered.namespace,
            secret=delivered.secret,
            key=delivered.key,
            token=delivered.token,
            alone=_RELOADER_ANNOTATIONS if by_reloader else 0.0,
        ),
        stage=Stage.KUBERNETES,
        reason="programs only read their token when they start",
        gates=(gate,),
        needs=(renew.id,),
        deadline=_DELIVERY_DEADLINE,
        seconds=60.0,
    )
