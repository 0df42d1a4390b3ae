"""Plans the removal of access that is no longer needed: users and roles of disabled components.

Only access that stockman created is removed, only after no pod of the cluster uses it, and never
if another cluster of stockman may need the same users.
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
from stockman.planning.access import problems as report
from stockman.planning.access.desired import TOKEN_COMMENT, list_desired_tokens
from stockman.planning.access.revocation import other_cluster_owners
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.desired import DesiredState
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedAccess, ObservedProxmox
from stockman.planning.observed.systems import Observed
from stockman.planning.vm.desired import guest_owner
from stockman.steps.access.delivery import TokenUnused
from stockman.steps.access.roles import DeleteRole, DeleteUser
from stockman.steps.step import Stage, Step

_PRUNE_DEADLINE = 3600.0
"""Seconds that the cluster has to remove a component."""


@record
class SurplusAccess:
    """Access that a disabled component still has in a Proxmox cluster."""

    region: str
    component: str
    user: str
    """Empty: only its role is left."""
    role: str
    """Empty: it does not exist, or is granted to others."""
    why: str
    foreign_tokens: tuple[str, ...] = ()
    """Tokens of the user that stockman did not create."""

    @property
    def steps(self) -> tuple[str, ...]:
        """Ids of the steps that remove it."""
        user = (f"access/revoke/{self.region}/{self.user}",) if self.user else ()
        return (*user, *((f"access/revoke/{self.region}/{self.role}",) if self.role else ()))

    @property
    def label(self) -> str:
        named = (self.user and f"user {self.user}", self.role and f"role {self.role}")
        return " and ".join(name for name in named if name)


def find_surplus_access(
    desired: Desired, cluster: ProxmoxCluster, observed: ObservedProxmox
) -> tuple[SurplusAccess, ...]:
    """Return access that is no longer needed; only an administrator can read it."""
    access, major = observed.access, observed.major
    if (
        not isinstance(access, Fact)
        or major is None
        or other_cluster_owners(observed, guest_owner(desired))
    ):
        return ()
    desired_users = {token.user for token in list_desired_tokens(desired, cluster, major)}
    return tuple(_component_surplus(desired, observed.name, access.value, desired_users))


def _component_surplus(
    desired: Desired, region: str, access: ObservedAccess, desired_users: set[str]
) -> Iterator[SurplusAccess]:
    on, roles = frozenset(active_components(desired)), {role.name for role in access.roles}
    for entry in components():
        if entry.proxmox is None:
            continue
        comment = f"{entry.name}{TOKEN_COMMENT}"
        mine = [
            user.id
            for user in access.users
            if user.comment == comment and user.id not in desired_users
        ]
        held = {rule.role for rule in access.rules if rule.holder.partition("!")[0] not in mine}
        free = entry.name not in on and entry.proxmox.role in roles - held
        role = entry.proxmox.role if free else ""
        is_off = entry.name not in on
        why = f"{entry.name} {'is disabled' if is_off else 'uses another user'}"
        for user in mine or ([""] if role else []):
            foreign_tokens = tuple(
                token.name
                for token in access.tokens.get(user, ())
                if not token.comment.startswith(comment)
            )
            yield SurplusAccess(
                region=region,
                component=entry.name,
                user=user,
                role=role,
                why=why,
                foreign_tokens=foreign_tokens,
            )
            role = ""


def plan_surplus_removal(
    desired_state: DesiredState,
    observed: Observed,
    kube_steps: tuple[Step, ...],
    problems: Problems,
) -> Iterator[ProxmoxChange]:
    """Plan the removal of surplus access, after everything that the plan does in Kubernetes.

    Access that the cluster still uses is kept and reported, unless this plan pushes the files that
    remove the component.
    """
    for cluster in desired_state.desired.proxmox:
        proxmox = observed.proxmox.get(str(cluster.region))
        if proxmox is None:
            continue
        for surplus in find_surplus_access(desired_state.desired, cluster, proxmox):
            if surplus.foreign_tokens:
                report.foreign_user(
                    problems, surplus.user, surplus.component, surplus.foreign_tokens
                )
                continue
            if desired_state.desired.cluster is None:
                yield _removal_change(surplus)
            elif not observed.api_answers:
                continue  # It is unknown what uses it.
            elif not _is_in_cluster(surplus.component, observed):
                yield _removal_change(surplus, _removal_gates(desired_state.desired, surplus))
            elif desired_state.push and kube_steps and not desired_state.stale:
                yield _removal_change(
                    surplus, _removal_gates(desired_state.desired, surplus), kube_steps[-1].id
                )
            else:
                report.component_still_in_use(problems, surplus.label, surplus.component)


def _is_in_cluster(name: str, observed: Observed) -> bool:
    """Whether a component is installed; if that cannot be read, it may be."""
    kubernetes, known = observed.kubernetes, known_component(name)
    if kubernetes is None or known is None or None in (kubernetes.releases, kubernetes.flux):
        return True
    released = {release.name for release in kubernetes.releases or ()}
    followed = {
        helm_release.name
        for helm_release in kubernetes.flux or ()
        if helm_release.kind == "HelmRelease"
    }
    return known.release in released | followed


def _removal_gates(desired: Desired, surplus: SurplusAccess) -> TokenUnused:
    known, settings = known_component(surplus.component), desired.components.get(surplus.component)
    namespace = settings.namespace if settings is not None else None
    return TokenUnused(
        component=surplus.component,
        namespace=namespace or (known.namespace if known is not None else ""),
        secret=f"{surplus.component}-config",
    )


def _removal_change(
    surplus: SurplusAccess, gate: TokenUnused | None = None, after: str = ""
) -> ProxmoxChange:
    steps: list[Step] = []
    for name, action in zip(surplus.steps, _removal_actions(surplus), strict=True):
        step = Step(
            id=name,
            action=action,
            stage=Stage.KUBERNETES if after else Stage.ACCESS,
            reason=surplus.why,
            gates=(gate,) if gate is not None else (),
            needs=(steps[-1].id,) if steps else (after,) if after else (),
            deadline=_PRUNE_DEADLINE,
            seconds=1.0,
        )
        steps.append(step)
    return ProxmoxChange(
        region=surplus.region,
        what=f"{surplus.label} in {surplus.region}",
        why=surplus.why,
        mark=ChangeKind.REMOVE,
        stage=Stage.ACCESS,
        destroys="; ".join(step.action.destroys for step in steps if step.action.destroys),
        steps=tuple(steps),
    )


def _removal_actions(surplus: SurplusAccess) -> Iterator[DeleteUser | DeleteRole]:
    if surplus.user:
        yield DeleteUser(cluster=surplus.region, user=surplus.user)
    if surplus.role:
        yield DeleteRole(cluster=surplus.region, role=surplus.role)
