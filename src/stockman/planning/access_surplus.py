"""Access that nothing needs any more: users and roles of components that were switched off.

Only what stockman made itself is taken away, only once no pod of the cluster works with it, and
never where machines of other clusters of stockman may need the same users.
"""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.registry import components
from stockman.catalog.selection import enabled
from stockman.model.components import component as known_component
from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.planning import access_problems as say
from stockman.planning.access_wanted import BY_STOCKMAN, token_wishes
from stockman.planning.change import Mark
from stockman.planning.fact import Fact
from stockman.planning.observed import Observed
from stockman.planning.observed_proxmox import AccessSeen, ObservedProxmox
from stockman.planning.other_owners import other_owners
from stockman.planning.proxmox_change import ProxmoxChange
from stockman.planning.vm_wanted import owner_of
from stockman.planning.wishes import Wishes
from stockman.steps.access_removal import DropRole, DropUser
from stockman.steps.access_unused import TokenUnused
from stockman.steps.step import Stage, Step

_UNTIL_PRUNED = 3600.0
"""Seconds that the cluster has to let a component go."""


@record
class SurplusAccess:
    """What a component still has in a Proxmox cluster, though it is switched off."""

    region: str
    component: str
    user: str
    """Empty: only its role is left."""
    role: str
    """Empty: it is gone, or somebody else has it."""
    why: str
    others: tuple[str, ...] = ()
    """Tokens of the user that others made."""

    @property
    def steps(self) -> tuple[str, ...]:
        """Ids of the steps that take it away."""
        user = (f"access/revoke/{self.region}/{self.user}",) if self.user else ()
        return (*user, *((f"access/revoke/{self.region}/{self.role}",) if self.role else ()))

    @property
    def called(self) -> str:
        named = (self.user and f"user {self.user}", self.role and f"role {self.role}")
        return " and ".join(one for one in named if one)


def surplus_access(
    desired: Desired, cluster: ProxmoxCluster, seen: ObservedProxmox
) -> tuple[SurplusAccess, ...]:
    """What nothing needs; only an administrator sees it."""
    access, major = seen.access, seen.major
    if not isinstance(access, Fact) or major is None or other_owners(seen, owner_of(desired)):
        return ()
    wanted = {wish.user for wish in token_wishes(desired, cluster, major)}
    return tuple(_surplus(desired, seen.name, access.value, wanted))


def _surplus(
    desired: Desired, region: str, access: AccessSeen, wanted: set[str]
) -> Iterator[SurplusAccess]:
    on, roles = frozenset(enabled(desired)), {one.name for one in access.roles}
    for one in components():
        if one.proxmox is None:
            continue
        made = f"{one.name}{BY_STOCKMAN}"
        mine = [user.id for user in access.users if user.comment == made and user.id not in wanted]
        held = {rule.role for rule in access.rules if rule.holder.partition("!")[0] not in mine}
        free = one.name not in on and one.proxmox.role in roles - held
        role = one.proxmox.role if free else ""
        is_off = one.name not in on
        why = f"{one.name} {'is switched off' if is_off else 'works as another user'}"
        for user in mine or ([""] if role else []):
            others = tuple(
                token.name
                for token in access.tokens.get(user, ())
                if not token.comment.startswith(made)
            )
            yield SurplusAccess(
                region=region, component=one.name, user=user, role=role, why=why, others=others
            )
            role = ""


def surplus_changes(
    wishes: Wishes, seen: Observed, kube_steps: tuple[Step, ...], problems: Problems
) -> Iterator[ProxmoxChange]:
    """The way to least privilege, behind everything that the plan does in Kubernetes.

    What the cluster still works with is left alone, and told, unless this plan pushes the files
    that take the component out of it.
    """
    for cluster in wishes.desired.proxmox:
        observed = seen.proxmox.get(str(cluster.region))
        if observed is None:
            continue
        for one in surplus_access(wishes.desired, cluster, observed):
            if one.others:
                say.user_of_others(problems, one.user, one.component, one.others)
                continue
            if wishes.desired.cluster is None:
                yield _change(one)
            elif not seen.api_answers:
                continue  # Nobody knows who works with it.
            elif not _is_in_cluster(one.component, seen):
                yield _change(one, _unused(wishes.desired, one))
            elif wishes.push and kube_steps and not wishes.stale:
                yield _change(one, _unused(wishes.desired, one), kube_steps[-1].id)
            else:
                say.still_used(problems, one.called, one.component)


def _is_in_cluster(name: str, seen: Observed) -> bool:
    """Whether a component is installed; what could not be read may be."""
    kubernetes, known = seen.kubernetes, known_component(name)
    if kubernetes is None or known is None or None in (kubernetes.releases, kubernetes.flux):
        return True
    released = {one.name for one in kubernetes.releases or ()}
    followed = {one.name for one in kubernetes.flux or () if one.kind == "HelmRelease"}
    return known.release in released | followed


def _unused(desired: Desired, one: SurplusAccess) -> TokenUnused:
    known, settings = known_component(one.component), desired.components.get(one.component)
    namespace = settings.namespace if settings is not None else None
    return TokenUnused(
        component=one.component,
        namespace=namespace or (known.namespace if known is not None else ""),
        secret=f"{one.component}-config",
    )


def _change(one: SurplusAccess, gate: TokenUnused | None = None, after: str = "") -> ProxmoxChange:
    made: list[Step] = []
    for name, action in zip(one.steps, _actions(one), strict=True):
        step = Step(
            id=name,
            action=action,
            stage=Stage.KUBERNETES if after else Stage.ACCESS,
            reason=one.why,
            gates=(gate,) if gate is not None else (),
            needs=(made[-1].id,) if made else (after,) if after else (),
            deadline=_UNTIL_PRUNED,
            seconds=1.0,
        )
        made.append(step)
    return ProxmoxChange(
        region=one.region,
        what=f"{one.called} in {one.region}",
        why=one.why,
        mark=Mark.REMOVE,
        stage=Stage.ACCESS,
        destroys="; ".join(step.action.destroys for step in made if step.action.destroys),
        steps=tuple(made),
    )


def _actions(one: SurplusAccess) -> Iterator[DropUser | DropRole]:
    if one.user:
        yield DropUser(cluster=one.region, user=one.user)
    if one.role:
        yield DropRole(cluster=one.region, role=one.role)
