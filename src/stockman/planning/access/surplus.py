"""Access that nothing needs any more: users and roles of components that were switched off.

Only what stockman made itself is taken away, only once no pod of the cluster works with it, and
never where machines of other clusters of stockman may need the same users.
"""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.registry import components
from stockman.catalog.selection import active_components
from stockman.model.component import find_component_facts as known_component
from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.planning.access import problems as say
from stockman.planning.access.desired import TOKEN_COMMENT, list_desired_tokens
from stockman.planning.access.revocation import other_cluster_owners
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.desired import DesiredState
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedAccess, ObservedProxmox
from stockman.planning.observed.systems import Observed
from stockman.planning.vm.desired import owner_of
from stockman.steps.access.delivery import TokenUnused
from stockman.steps.access.roles import DeleteRole, DeleteUser
from stockman.steps.step import Stage, Step

_PRUNE_DEADLINE = 3600.0
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


def find_surplus_access(
    desired: Desired, cluster: ProxmoxCluster, seen: ObservedProxmox
) -> tuple[SurplusAccess, ...]:
    """What nothing needs; only an administrator sees it."""
    access, major = seen.access, seen.major
    if (
        not isinstance(access, Fact)
        or major is None
        or other_cluster_owners(seen, owner_of(desired))
    ):
        return ()
    wanted = {wish.user for wish in list_desired_tokens(desired, cluster, major)}
    return tuple(_component_surplus(desired, seen.name, access.value, wanted))


def _component_surplus(
    desired: Desired, region: str, access: ObservedAccess, wanted: set[str]
) -> Iterator[SurplusAccess]:
    on, roles = frozenset(active_components(desired)), {one.name for one in access.roles}
    for one in components():
        if one.proxmox is None:
            continue
        made = f"{one.name}{TOKEN_COMMENT}"
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


def plan_surplus_removal(
    wishes: DesiredState, seen: Observed, kube_steps: tuple[Step, ...], problems: Problems
) -> Iterator[ProxmoxChange]:
    """The way to least privilege, behind everything that the plan does in Kubernetes.

    What the cluster still works with is left alone, and told, unless this plan pushes the files
    that take the component out of it.
    """
    for cluster in wishes.desired.proxmox:
        observed = seen.proxmox.get(str(cluster.region))
        if observed is None:
            continue
        for one in find_surplus_access(wishes.desired, cluster, observed):
            if one.others:
                say.foreign_user(problems, one.user, one.component, one.others)
                continue
            if wishes.desired.cluster is None:
                yield _removal_change(one)
            elif not seen.api_answers:
                continue  # Nobody knows who works with it.
            elif not _is_in_cluster(one.component, seen):
                yield _removal_change(one, _removal_gates(wishes.desired, one))
            elif wishes.push and kube_steps and not wishes.stale:
                yield _removal_change(one, _removal_gates(wishes.desired, one), kube_steps[-1].id)
            else:
                say.component_still_in_use(problems, one.called, one.component)


def _is_in_cluster(name: str, seen: Observed) -> bool:
    """Whether a component is installed; what could not be read may be."""
    kubernetes, known = seen.kubernetes, known_component(name)
    if kubernetes is None or known is None or None in (kubernetes.releases, kubernetes.flux):
        return True
    released = {one.name for one in kubernetes.releases or ()}
    followed = {one.name for one in kubernetes.flux or () if one.kind == "HelmRelease"}
    return known.release in released | followed


def _removal_gates(desired: Desired, one: SurplusAccess) -> TokenUnused:
    known, settings = known_component(one.component), desired.components.get(one.component)
    namespace = settings.namespace if settings is not None else None
    return TokenUnused(
        component=one.component,
        namespace=namespace or (known.namespace if known is not None else ""),
        secret=f"{one.component}-config",
    )


def _removal_change(
    one: SurplusAccess, gate: TokenUnused | None = None, after: str = ""
) -> ProxmoxChange:
    made: list[Step] = []
    for name, action in zip(one.steps, _removal_actions(one), strict=True):
        step = Step(
            id=name,
            action=action,
            stage=Stage.KUBERNETES if after else Stage.ACCESS,
            reason=one.why,
            gates=(gate,) if gate is not None else (),
            needs=(made[-1].id,) if made else (after,) if after else (),
            deadline=_PRUNE_DEADLINE,
            seconds=1.0,
        )
        made.append(step)
    return ProxmoxChange(
        region=one.region,
        what=f"{one.called} in {one.region}",
        why=one.why,
        mark=ChangeKind.REMOVE,
        stage=Stage.ACCESS,
        destroys="; ".join(step.action.destroys for step in made if step.action.destroys),
        steps=tuple(made),
    )


def _removal_actions(one: SurplusAccess) -> Iterator[DeleteUser | DeleteRole]:
    if one.user:
        yield DeleteUser(cluster=one.region, user=one.user)
    if one.role:
        yield DeleteRole(cluster=one.region, role=one.role)
