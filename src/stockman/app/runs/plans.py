"""Plans: what a run would do, from the files of a directory and what is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from stockman.app.rendering.render import Rendering
from stockman.app.runs.observation import (
    ObservationScope,
    observe,
    observe_only_proxmox,
    observe_touched,
)
from stockman.app.runs.workspace import RunWorkspace
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.change import Change
from stockman.planning.desired import DesiredState
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.observed.systems import Observed
from stockman.planning.plan import compose_plan, digest_touched_objects
from stockman.planning.planned import Planned
from stockman.planning.proxmox import plan as proxmox_plan
from stockman.planning.scope import stages_to_observe, touches_machines
from stockman.ports.environment import Network
from stockman.rendering.managed_files import FileAction
from stockman.steps.plan import Plan
from stockman.steps.ports import Ports
from stockman.steps.repository import MANAGED_PATHS, CommitPushed
from stockman.steps.step import Stage


@record
class PlanOptions:
    """Which plan is wanted."""

    only: tuple[Stage, ...] = ()
    """Empty: all stages."""
    nodes: tuple[str, ...] = ()
    """Empty: all of them."""
    until: str = ""
    """A step or a stage that is the last. Empty: to the end."""
    push: bool = False
    prune: bool = False
    reconcile: bool = False
    """Whether Flux is asked to look at the repository now."""
    any_time: bool = False
    """Whether machines are restarted outside of windows, too."""


class Planner:
    """Makes plans of one directory, again and again."""

    def __init__(self, workspace: RunWorkspace, network: Network | None = None) -> None:
        """`network` is asked whether the address of the API is taken. None: nobody is."""
        self._workspace = workspace
        self._network = network
        self._wish, self._rendering = workspace.kubernetes()

    @property
    def wish(self) -> DesiredKubernetes | None:
        """What the cluster needs before it follows its repository. None: there is no cluster."""
        return self._wish

    async def plan(self, ports: Ports, wish: PlanOptions = PlanOptions()) -> Planned:  # noqa: B008
        """Look at everything, and say what is to be done."""
        workspace = self._workspace
        wish = replace(wish, nodes=self._named(wish.nodes))
        options = proxmox_plan.PlanOptions(prune=wish.prune, unkept=workspace.unkept())
        looked = replace(
            self._looked(), stages=stages_to_observe(wish.only, wish.until), options=options
        )
        seen = await observe(looked, ports)
        rendering = self._rendering
        wishes = DesiredState(
            desired=workspace.desired,
            configurations=workspace.configurations() if seen.beyond_proxmox else {},
            client_files=workspace.client_files(),
            kubernetes=self._wish,
            unrendered=tuple(one.path for one in rendering.changes) if rendering else (),
            stale=tuple(_stale_files(rendering)) if rendering else (),
            push=wish.push,
            reconcile=wish.reconcile,
            unpushed=await self._unpushed(ports) if wish.push else "",
            chosen=frozenset(wish.nodes),
            any_time=wish.any_time,
            options=options,
        )
        found = compose_plan(wishes, seen, ports.clock.now())
        problems = Problems()
        problems.extend(workspace.warnings)
        problems.extend(found.problems)
        plan, changes = narrow_plan(found.plan, found.changes, wish, self._known())
        return Planned(
            changes=changes,
            plan=plan,
            problems=problems,
            observed=seen,
        )

    async def _unpushed(self, ports: Ports) -> str:
        """How the pushed commit differs from the tree; empty where it does not."""
        if self._wish is None:
            return ""
        return await CommitPushed(
            branch=self._wish.branch, places=self._wish.files or MANAGED_PATHS
        ).difference(ports)

    async def observe(self, ports: Ports) -> Observed:
        """Look at everything."""
        return await observe(self._looked(), ports)

    async def observe_proxmox(self, ports: Ports) -> Observed:
        """Look at Proxmox VE, and at nothing else."""
        return await observe_only_proxmox(self._workspace.desired, ports)

    async def fingerprint(self, ports: Ports, identities: Sequence[str]) -> Mapping[str, str]:
        """Digests of what a plan touches, as it is now."""
        if touches_machines(identities):
            return digest_touched_objects(await self.observe(ports), identities)
        seen = await observe_touched(self._workspace.desired, ports, identities)
        return proxmox_plan.digest_touched_guests(seen, identities)

    def _looked(self) -> ObservationScope:
        return ObservationScope(
            desired=self._workspace.desired,
            kubernetes=self._wish,
            client_files=self._workspace.client_files(),
            network=self._network,
        )

    def _known(self) -> frozenset[str]:
        desired = self._workspace.desired
        nodes, guests = desired.nodes, desired.guests
        return frozenset((*(str(one.name) for one in nodes), *(str(one.name) for one in guests)))

    def _named(self, nodes: tuple[str, ...]) -> tuple[str, ...]:
        """Nodes and guests by name; a node may be given by its address, too."""
        names = {str(node.address.ip): str(node.name) for node in self._workspace.desired.nodes}
        return tuple(names.get(one, one) for one in nodes)


def narrow_plan(
    plan: Plan, changes: Iterable[Change], wish: PlanOptions, known: frozenset[str] = frozenset()
) -> tuple[Plan, tuple[Change, ...]]:
    """The part of a plan that is wanted, and the changes that it is about.

    `known` are the nodes of the configuration: of those without a step, nothing is to be done.
    """
    if not (wish.only or wish.nodes or wish.until):
        return plan, tuple(changes)
    if wish.only:
        plan = plan.only(wish.only)
    if wish.nodes:
        plan = plan.for_nodes(wish.nodes, known)
    if wish.until:
        plan = plan.until(wish.until)
    return plan, tuple(one for one in changes if _is_in(one, plan))


def _is_in(change: Change, plan: Plan) -> bool:
    """Whether a plan does something about a change."""
    ids = {step.id for step in plan.steps}
    if made := change.made_by:
        return not ids.isdisjoint(made)
    return any(step.stage is change.stage and change.node in ("", step.node) for step in plan.steps)


def _stale_files(rendering: Rendering) -> Iterator[str]:
    """Files of components that are gone from the configuration, and not from the disk."""
    return (one.path for one in rendering.actions if one.act is FileAction.STALE)
