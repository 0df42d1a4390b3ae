"""Plans: what a run would do, from the files of a directory and what is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stockman.app.observing import Looked, observe
from stockman.app.workspace_plan import Workspace
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.change import Change
from stockman.planning.composition import Wishes, composed, touched
from stockman.planning.kube_wish import KubernetesWish
from stockman.planning.observed import Observed
from stockman.planning.proxmox_plan import Options
from stockman.ports.probe import Network
from stockman.steps.kube_pushed import KEPT, Pushed
from stockman.steps.plan import Plan
from stockman.steps.ports import Ports
from stockman.steps.step import Stage


@record
class PlanWish:
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


@record
class Planned:
    """A plan, why, and what it was made from."""

    changes: tuple[Change, ...]
    plan: Plan
    problems: Problems
    """With an error among them, the plan must not be carried out."""
    observed: Observed


class Planner:
    """Makes plans of one directory, again and again."""

    def __init__(self, workspace: Workspace, network: Network | None = None) -> None:
        """`network` is asked whether the address of the API is taken. None: nobody is."""
        self._workspace = workspace
        self._network = network
        self._wish, self._rendering = workspace.kubernetes()

    @property
    def wish(self) -> KubernetesWish | None:
        """What the cluster needs before it follows its repository. None: there is no cluster."""
        return self._wish

    async def plan(self, ports: Ports, wish: PlanWish = PlanWish()) -> Planned:  # noqa: B008
        """Look at everything, and say what is to be done."""
        workspace = self._workspace
        seen = await self.observe(ports)
        rendering = self._rendering
        wishes = Wishes(
            desired=workspace.desired,
            configurations=workspace.configurations(),
            client_files=workspace.client_files(),
            kubernetes=self._wish,
            unrendered=tuple(one.path for one in rendering.changes) if rendering else (),
            push=wish.push,
            reconcile=wish.reconcile,
            unpushed=await self._unpushed(ports) if wish.push else "",
            options=Options(prune=wish.prune, unkept=workspace.unkept()),
        )
        found = composed(wishes, seen, ports.clock.now())
        problems = Problems()
        problems.extend(workspace.warnings)
        problems.extend(found.problems)
        plan, changes = narrowed(found.plan, found.changes, wish)
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
        return await Pushed(branch=self._wish.branch, places=KEPT).difference(ports)

    async def observe(self, ports: Ports) -> Observed:
        """Look at everything."""
        looked = Looked(
            desired=self._workspace.desired,
            kubernetes=self._wish,
            client_files=self._workspace.client_files(),
            network=self._network,
        )
        return await observe(looked, ports)

    async def fingerprint(self, ports: Ports, identities: Sequence[str]) -> Mapping[str, str]:
        """Digests of what a plan touches, as it is now."""
        return touched(await self.observe(ports), identities)


def narrowed(
    plan: Plan, changes: Iterable[Change], wish: PlanWish
) -> tuple[Plan, tuple[Change, ...]]:
    """The part of a plan that is wanted, and the changes that it is about."""
    if not (wish.only or wish.nodes or wish.until):
        return plan, tuple(changes)
    if wish.only:
        plan = plan.only(wish.only)
    if wish.nodes:
        plan = plan.for_nodes(wish.nodes)
    if wish.until:
        plan = plan.until(wish.until)
    stages = {step.stage for step in plan.steps}
    nodes = {step.node for step in plan.steps}
    kept = tuple(
        one for one in changes if one.stage in stages and (not one.node or one.node in nodes)
    )
    return plan, kept
