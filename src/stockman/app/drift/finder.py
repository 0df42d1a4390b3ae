"""Find drift: observe every system, compare layer by layer, and plan the corrections."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping

from stockman.app.rendering.render import OverwrittenTree, Rendering, prepare_rendering
from stockman.app.runs.plans import Planner
from stockman.app.runs.workspace import RunWorkspace
from stockman.assessment.drift.access import access_drifts, access_gaps, rights_drifts
from stockman.assessment.drift.flux import FluxObject, FluxSide, flux_drifts, is_compared
from stockman.assessment.drift.machines import TalosSide, machine_drifts, machine_gaps
from stockman.assessment.drift.objects import ObjectsSide, object_drifts, object_refs
from stockman.assessment.drift.proxmox import (
    ProxmoxSide,
    idle_nodes,
    placement_drifts,
    placement_gaps,
    vm_drifts,
    vm_gaps,
)
from stockman.assessment.drift.report import (
    Drift,
    DriftReport,
    Gap,
    Layer,
    apply_ignore_rules,
    find_expired,
    remaining_changes,
    unreadable_part,
    with_correction,
)
from stockman.assessment.drift.tree import TreeSide, tree_drifts
from stockman.config.writers.yaml_writer import strip_comments
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import Object, ObjectRef, ResourceKind
from stockman.model.desired import Cluster
from stockman.model.errors import NotFound, Refused, StockmanError, Unsupported
from stockman.model.problem import Problem
from stockman.model.proxmox import ProxmoxCluster
from stockman.planning.fact import Fact
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.observed.systems import Observed
from stockman.planning.planned import Planned
from stockman.planning.talos.desired import DesiredTalos
from stockman.ports.repository import Commit, GitRepository
from stockman.proxmox.tasks import TaskSummary
from stockman.rendering.applications import OrderedApp
from stockman.rendering.checks.objects import read_objects
from stockman.rendering.managed_files import FileAction, FileChange, FileDecisions
from stockman.rendering.repository import RenderedRepository
from stockman.rendering.tree import FileTree, RenderedFile
from stockman.steps.kubernetes.objects import FLUX, object_name, text_at
from stockman.steps.ports import Ports

_ROOT = "kubernetes/flux/"
_APPS = "kubernetes/apps/"
_TOP = "flux-system/flux-system"
_ALL_APPS = "flux-system/cluster-apps"
_AT_ONCE = 8


async def observe_objects(
    kubernetes: KubernetesClient, refs: Iterable[ObjectRef]
) -> dict[ObjectRef, Object]:
    """Return the objects that exist."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(ref: ObjectRef) -> Object | None:
        async with turns:
            try:
                return await kubernetes.get(ref)
            except NotFound:
                return None

    objects = tuple(refs)
    answers = await asyncio.gather(*(one(ref) for ref in objects))
    return {ref: answer for ref, answer in zip(objects, answers, strict=True) if answer is not None}


async def observe_flux_objects(kubernetes: KubernetesClient) -> dict[tuple[str, str, str], Object]:
    """Return all Flux objects by kind, namespace and name."""

    async def listed(kind: ResourceKind) -> tuple[Object, ...]:
        try:
            return (await kubernetes.objects(kind)).items
        except (Unsupported, NotFound):
            return ()

    lists = await asyncio.gather(*(listed(kind) for kind in FLUX))
    return {
        (
            kind.name,
            text_at(flux_object, "metadata", "namespace"),
            object_name(flux_object),
        ): flux_object
        for kind, objects in zip(FLUX, lists, strict=True)
        for flux_object in objects
    }


def build_flux_objects(
    rendered: RenderedRepository, pushed: Mapping[str, bytes | None]
) -> tuple[FluxObject, ...]:
    """Return the objects that Flux should apply; `pushed` holds files that differ in the pushed
    commit."""
    tree = FileTree()
    for file in rendered.tree:
        if not file.path.startswith((_ROOT, _APPS)) or file.is_secret:
            continue
        if file.path not in pushed:
            tree.add(file)
        elif (pushed_content := pushed[file.path]) is not None:
            text = pushed_content.decode(errors="replace")
            tree.add(RenderedFile(path=file.path, owner=file.owner, text=text))
    placed = {file.directory: file for file in rendered.apps}
    flux_objects: list[FluxObject] = []
    for library_file in read_objects(tree, {}):
        content = strip_comments(library_file.content)
        if isinstance(content, dict) and is_compared(content):
            flux_object = _flux_object(library_file.path, content, placed)
            if flux_object is not None:
                flux_objects.append(flux_object)
    return tuple(flux_objects)


def _flux_object(path: str, content: Object, placed: Mapping[str, OrderedApp]) -> FluxObject | None:
    """Return the object with its Kustomization and namespace. None: it is not applied yet."""
    own = text_at(content, "metadata", "namespace")
    if path.startswith(_ROOT):
        return FluxObject(content=content, namespace=own, owner=_TOP, file=path)
    folder = path.rpartition("/")[0]
    app = placed.get(folder)
    space = path.removeprefix(_APPS).partition("/")[0]
    if app is None:
        return FluxObject(content=content, namespace=own or space, owner=_ALL_APPS, file=path)
    if app.app.pending:
        return None
    owner = f"{space}/{app.app.name}"
    namespace = own if app.app.scattered else app.app.namespace
    return FluxObject(content=content, namespace=namespace, owner=owner, file=path)


_CONFIGURATION = ("cluster.yaml", "nodes.yaml", "cluster.toml")
_WRITTEN = (FileAction.EDITED, FileAction.FOREIGN, FileAction.STALE)


async def observe_repository(
    repo: GitRepository, branch: str, actions: tuple[FileChange, ...]
) -> TreeSide:
    """Return everything known of the rendered files, after a fetch."""
    state = await repo.state()
    remote = await repo.fetch() if state.branch == branch else None
    commit = state.commit
    ahead: tuple[Commit, ...] = ()
    behind: tuple[Commit, ...] = ()
    if commit is not None and remote != commit:
        ahead = await repo.commits(commit, since=remote or "")
        behind = await repo.commits(remote, since=commit) if remote is not None else ()
    return TreeSide(
        actions=actions,
        branch=branch,
        state=state,
        remote=remote,
        ahead=ahead,
        behind=behind,
        changed_remotely=await _find_remote_changes(repo, commit, remote, actions)
        if behind
        else {},
        last_commits=await _last_commits(repo, commit, actions),
    )


async def _find_remote_changes(
    repo: GitRepository, commit: str | None, remote: str | None, actions: Iterable[FileChange]
) -> dict[str, Commit | None]:
    """Return rendered files that remote commits changed."""
    if commit is None or remote is None:
        return {}
    ours = {action.path for action in actions}
    changed: dict[str, Commit | None] = {}
    for path in await differing_paths(repo, commit, remote):
        last = await repo.commits(remote, since=commit, path=path, most=1) if path in ours else ()
        if last:
            changed[path] = last[0]
    return changed


async def differing_paths(repo: GitRepository, left: str, right: str) -> tuple[str, ...]:
    """Return files that differ between two commits."""
    first = {file.path: file.object for file in await repo.tree(left)}
    second = {file.path: file.object for file in await repo.tree(right)}
    return tuple(sorted(path for path in {*first, *second} if first.get(path) != second.get(path)))


async def differing_in_push(repo: GitRepository, side: TreeSide) -> dict[str, bytes | None]:
    """Return rendered files that differ in the pushed commit, with their content there."""
    if side.remote is None:
        return {}
    paths = {action.path for action in side.differing} | set(side.state.dirty)
    if side.state.commit is not None and side.state.commit != side.remote:
        paths |= set(await differing_paths(repo, side.state.commit, side.remote))
    differing: dict[str, bytes | None] = {}
    for path in sorted(paths & {action.path for action in side.actions}):
        try:
            differing[path] = await repo.read(side.remote, path)
        except NotFound:
            differing[path] = None
    return differing


async def _last_commits(
    repo: GitRepository, commit: str | None, actions: Iterable[FileChange]
) -> dict[str, Commit | None]:
    """Return the last commits of changed files and of the configuration."""
    if commit is None:
        return {}
    commits: dict[str, Commit | None] = {}
    for action in actions:
        if action.act in _WRITTEN:
            commits[action.path] = next(
                iter(await repo.commits(commit, path=action.path, most=1)), None
            )
    if any(action.act is FileAction.UPDATE for action in actions):
        every = [
            candidate
            for path in _CONFIGURATION
            for candidate in await repo.commits(commit, path=path, most=1)
        ]
        commits[""] = max(every, key=lambda candidate: candidate.at, default=None)
    return commits


_TASKS = 500
"""Number of tasks per host that are searched for the author of a change."""
_IN_PROXMOX = (Layer.VMS, Layer.PLACEMENT, Layer.ACCESS)
_IN_KUBERNETES = (Layer.KUBERNETES, Layer.TREE)


class DriftFinder:
    """Finds drift of one directory without changing anything."""

    def __init__(self, workspace: RunWorkspace) -> None:
        """Raises `Refused` if the files have errors."""
        self._workspace = workspace
        self._rendering = _render(workspace)
        self._planner = Planner(workspace)

    async def find(self, ports: Ports, layers: Collection[Layer] = ()) -> DriftReport:
        """Return drift in these layers, or in all if none is given."""
        meant = tuple(layers) or tuple(Layer)
        planned = await self._planner.plan(ports)
        desired = self._planner.desired_kubernetes
        looking = _DriftSearch(self._workspace, self._rendering, desired, planned, ports)
        await looking.run(meant)
        looking.drifts += tuple(remaining_changes(looking.drifts, planned))
        today = ports.clock.now().date()
        rules = self._workspace.desired.drift.ignore
        all_drifts = [
            with_correction(drift, planned) for drift in looking.drifts if drift.layer in meant
        ]
        drifts, ignored = apply_ignore_rules(all_drifts, rules, today)
        return DriftReport(
            today=today,
            layers=meant,
            drifts=tuple(sorted(drifts, key=_order)),
            unknown=tuple(dict.fromkeys(gap for gap in looking.gaps if gap.layer in meant)),
            ignored=ignored,
            expired=find_expired(rules, today),
        )


class _DriftSearch:
    """One pass over all layers."""

    def __init__(
        self,
        workspace: RunWorkspace,
        done: Rendering | None,
        desired_kubernetes: DesiredKubernetes | None,
        planned: Planned,
        ports: Ports,
    ) -> None:
        self._workspace = workspace
        self._rendering = done
        self._desired_kubernetes = desired_kubernetes
        self._planned = planned
        self._ports = ports
        self.drifts: tuple[Drift, ...] = ()
        self.gaps: list[Gap] = []

    @property
    def _observed(self) -> Observed:
        return self._planned.observed

    async def run(self, layers: tuple[Layer, ...]) -> None:
        still: frozenset[str] = frozenset()
        for proxmox_cluster in self._workspace.desired.proxmox:
            still |= await self._proxmox(proxmox_cluster)
        self._add(rights_drifts(self._planned.problems))
        cluster = self._workspace.cluster
        if cluster is None:
            return
        self._machines(still)
        if Layer.KUBERNETES in layers or Layer.TREE in layers:
            await self._kubernetes(cluster)

    def _add(self, drifts: Iterable[Drift]) -> None:
        self.drifts += tuple(drifts)

    def _gap(self, layers: Iterable[Layer], subject: str, problem: Problem) -> None:
        self.gaps += (Gap(layer=layer, subject=subject, problem=problem) for layer in layers)

    # -- Proxmox VE ---------------------------------------------------------------------------

    async def _proxmox(self, cluster: ProxmoxCluster) -> frozenset[str]:
        """Compare a Proxmox cluster; return nodes that do not run there."""
        name = str(cluster.region)
        observed = self._observed.proxmox.get(name)
        if observed is None:
            why = "the files give no endpoint"
            self._gap(_IN_PROXMOX, name, unreadable_part(f"Proxmox cluster {name}", why))
            return frozenset()
        for unknown in observed.unknown_basics():
            self._gap(_IN_PROXMOX, name, unknown.problem)
        side = ProxmoxSide(desired=self._workspace.desired, cluster=cluster, observed=observed)
        if any((*vm_drifts(side), *placement_drifts(side))):
            tasks = await self._tasks(observed)
            side = ProxmoxSide(
                desired=side.desired, cluster=cluster, observed=observed, tasks=tasks
            )
        self._add(vm_drifts(side))
        self._add(placement_drifts(side))
        self._add(access_drifts(side, self._planned.changes))
        self.gaps += (*vm_gaps(side), *placement_gaps(side), *access_gaps(side))
        return idle_nodes(side)

    async def _tasks(self, observed: ObservedProxmox) -> tuple[TaskSummary, ...]:
        """Return tasks of all hosts that answer; missing tasks leave authors unknown."""
        client = self._ports.on(observed.name)
        members = observed.state.value.members if isinstance(observed.state, Fact) else ()
        task_summaries: list[TaskSummary] = []
        for host in (member.name for member in members if member.online):
            try:
                task_summaries += await client.past_tasks(host, _TASKS)
            except StockmanError:
                continue
        return tuple(task_summaries)

    # -- machines -----------------------------------------------------------------------------

    def _machines(self, still: frozenset[str]) -> None:
        observed = self._observed.talos
        if observed is None:
            why = "the secrets of the cluster cannot be opened"
            self._gap((Layer.TALOS,), "talos", unreadable_part("the machines of the cluster", why))
            return
        for name, lack in observed.client_files.items():
            if lack is None:
                why = "nobody could use it; without it, `stockman apply` writes it anew"
                self._gap((Layer.ACCESS,), name, unreadable_part(name, why))
        desired = DesiredTalos(
            desired=self._workspace.desired, configurations=self._workspace.configurations()
        )
        side = TalosSide(desired_talos=desired, observed=observed, idle=still)
        self._add(machine_drifts(side))
        self.gaps += machine_gaps(side)

    # -- the cluster and its repository -------------------------------------------------------

    async def _kubernetes(self, cluster: Cluster) -> None:
        tree = await self._tree(cluster)
        observed, kubernetes = self._observed.kubernetes, self._ports.kubernetes
        if observed is None or kubernetes is None or not self._observed.api_answers:
            why = (observed.unknown.get("version") if observed is not None else "") or "no answer"
            self._gap(_IN_KUBERNETES, "Kubernetes", unreadable_part("the Kubernetes API", why))
            return
        for kind, why in observed.unknown.items():
            self._gap((Layer.KUBERNETES,), kind, unreadable_part(f"{kind} of the cluster", why))
        try:
            await self._objects(kubernetes)
        except StockmanError as error:
            self._gap((Layer.KUBERNETES,), "objects", error.problem)
        try:
            await self._flux(tree, kubernetes)
        except StockmanError as error:
            self._gap((Layer.TREE,), "flux", error.problem)

    async def _tree(self, cluster: Cluster) -> TreeSide | None:
        actions = self._rendering.actions if self._rendering is not None else ()
        try:
            side = await observe_repository(
                self._ports.to_repo(), cluster.repository.branch, actions
            )
        except StockmanError as error:
            self._gap((Layer.TREE,), "git", error.problem)
            return None
        self._add(tree_drifts(side))
        return side

    async def _objects(self, kubernetes: KubernetesClient) -> None:
        if self._desired_kubernetes is not None:
            existing = await observe_objects(kubernetes, object_refs(self._desired_kubernetes))
            self._add(
                object_drifts(ObjectsSide(desired=self._desired_kubernetes, existing=existing))
            )

    async def _flux(self, tree: TreeSide | None, kubernetes: KubernetesClient) -> None:
        """Compare the Flux objects with the pushed commit."""
        if tree is None or tree.remote is None or self._rendering is None:
            return
        otherwise = await differing_in_push(self._ports.to_repo(), tree)
        side = FluxSide(
            commit=tree.remote,
            desired=build_flux_objects(self._rendering.repository, otherwise),
            existing=await observe_flux_objects(kubernetes),
        )
        self._add(flux_drifts(side))


def _order(drift: Drift) -> tuple[int, str]:
    return list(Layer).index(drift.layer), drift.subject


def _render(workspace: RunWorkspace) -> Rendering | None:
    """Return what rendering would do; undecided files do not prevent plans."""
    if workspace.cluster is None:
        return None
    done = prepare_rendering(workspace.directory, FileDecisions(), workspace.render_context)
    for problem in done.problems.errors:
        raise Refused(problem)
    if done.undecided:
        paths = frozenset(action.path for action in done.undecided)
        workspace.tree = OverwrittenTree(workspace.directory, workspace.render_context, paths)
    return done
