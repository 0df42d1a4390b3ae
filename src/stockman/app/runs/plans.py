"""Make plans from the files of a directory and the observed state."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from stockman.app.rendering.render import Rendering
from stockman.app.runs.workspace import RunWorkspace
from stockman.engine.etcd_records import EtcdRecords
from stockman.engine.observe.kubernetes import KubernetesQuery, observe_kubernetes
from stockman.engine.observe.proxmox import ProxmoxClients, observe_guests, observe_proxmox
from stockman.engine.observe.talos import TalosQuery, observe_talos
from stockman.kubernetes.objects import CONFIG_MAPS, ObjectRef
from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.names import MachineAddress, Vmid
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.change import Change
from stockman.planning.desired import DesiredState, ProxmoxOptions
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.observed.kubernetes import ObservedKubernetes
from stockman.planning.observed.proxmox import ObservedGuests, ObservedProxmox
from stockman.planning.observed.systems import Observed
from stockman.planning.observed.talos import ObservedTalos
from stockman.planning.plan import compose_plan, digest_touched_objects
from stockman.planning.planned import Planned
from stockman.planning.scope import (
    is_on_proxmox,
    shuts_down_machines,
    stages_to_observe,
    touches_machines,
)
from stockman.planning.stages.proxmox import digest_touched_guests, guest_identity, proxmox_query
from stockman.planning.vm.removal import find_leaving_machines
from stockman.ports.environment import Network
from stockman.rendering.managed_files import FileAction
from stockman.steps.access.admin import admin_client_name
from stockman.steps.plan import Plan
from stockman.steps.plan_problems import unknown_node
from stockman.steps.ports import Ports
from stockman.steps.repository import MANAGED_PATHS, CommitPushed
from stockman.steps.step import Stage
from stockman.steps.talos.client_files import WriteClientFile


@record
class PlanOptions:
    """Options of a plan."""

    only: tuple[Stage, ...] = ()
    """Empty: all stages."""
    nodes: tuple[str, ...] = ()
    """Empty: all nodes."""
    until: str = ""
    """The last step or stage. Empty: to the end."""
    push: bool = False
    push_message: str = ""
    """Message of the commit. Empty: the default."""
    pull_request: str = ""
    """The branch that is pushed instead of the followed one. Empty: none."""
    prune: bool = False
    reconcile: bool = False
    """Whether Flux is asked to reconcile at once."""
    any_time: bool = False
    """Whether machines may be restarted outside maintenance windows."""
    first_config: Mapping[str, str] = field(default_factory=dict)
    """Confirmed fingerprints of machines in maintenance mode, by node."""


class Planner:
    """Makes plans for one directory."""

    def __init__(
        self,
        workspace: RunWorkspace,
        network: Network | None = None,
        records: EtcdRecords | None = None,
    ) -> None:
        """`network` checks whether the API address is in use. None: not checked.

        `records` know whether there was an etcd before. None: there are no recorded runs.
        """
        self._workspace = workspace
        self._records = records
        self._network = network
        self._desired_kubernetes, self._rendering = workspace.kubernetes()

    @property
    def desired_kubernetes(self) -> DesiredKubernetes | None:
        """Desired objects before Flux. None: there is no cluster."""
        return self._desired_kubernetes

    async def plan(self, ports: Ports, plan_options: PlanOptions = PlanOptions()) -> Planned:  # noqa: B008
        """Observe everything and make a plan."""
        workspace = self._workspace
        plan_options = replace(plan_options, nodes=self._resolve_names(plan_options.nodes))
        self._check_first_config(plan_options.first_config)
        options = ProxmoxOptions(
            prune=plan_options.prune,
            unkept=workspace.missing_tokens(),
            chosen=frozenset(plan_options.nodes),
        )
        scope = replace(
            self._scope(),
            stages=stages_to_observe(plan_options.only, plan_options.until),
            options=options,
        )
        observed = await self._with_earlier_etcd(await observe(scope, ports))
        rendering = self._rendering
        desired = DesiredState(
            desired=workspace.desired,
            configurations=workspace.configurations() if observed.beyond_proxmox else {},
            client_files=workspace.client_files(),
            kubernetes=self._with_push_options(plan_options),
            unrendered=tuple(change.path for change in rendering.changes) if rendering else (),
            stale=tuple(_stale_files(rendering)) if rendering else (),
            push=plan_options.push,
            reconcile=plan_options.reconcile,
            unpushed=await self._unpushed_files(ports) if plan_options.push else "",
            chosen=frozenset(plan_options.nodes),
            any_time=plan_options.any_time,
            first_config=plan_options.first_config,
            options=options,
        )
        changes_ = compose_plan(desired, observed, ports.clock.now())
        problems = Problems()
        problems.extend(workspace.warnings)
        problems.extend(changes_.problems)
        complete = replace(changes_.plan, files=workspace.files_digest)
        plan, changes = narrow_plan(complete, changes_.changes, plan_options, self._known())
        return Planned(
            changes=changes,
            plan=plan,
            problems=problems,
            observed=observed,
        )

    def _with_push_options(self, plan_options: PlanOptions) -> DesiredKubernetes | None:
        if self._desired_kubernetes is None:
            return None
        return replace(
            self._desired_kubernetes,
            push_message=plan_options.push_message,
            pull_request=plan_options.pull_request,
        )

    async def _with_earlier_etcd(self, observed: Observed) -> Observed:
        """Add the run that knows an etcd, if no controller does."""
        if self._records is None or observed.talos is None or observed.talos.etcd.begun:
            return observed
        nodes = self._workspace.desired.nodes
        controllers = tuple(str(node.name) for node in nodes if node.is_controller)
        earlier = await self._records.find_earlier_etcd(controllers)
        return replace(observed, earlier_etcd=earlier)

    def _check_first_config(self, first_config: Mapping[str, str]) -> None:
        """Raise `Refused` for confirmed machines that are not in the configuration."""
        nodes = [str(node.name) for node in self._workspace.desired.nodes]
        for name in sorted(set(first_config) - set(nodes)):
            raise Refused(unknown_node(name, nodes))

    async def _unpushed_files(self, ports: Ports) -> str:
        """Return files that differ between the pushed commit and the tree."""
        if self._desired_kubernetes is None:
            return ""
        return await CommitPushed(
            branch=self._desired_kubernetes.branch,
            places=self._desired_kubernetes.files or MANAGED_PATHS,
        ).difference(ports)

    async def observe(self, ports: Ports) -> Observed:
        """Observe everything."""
        return await observe(self._scope(), ports)

    async def observe_proxmox(self, ports: Ports) -> Observed:
        """Observe only Proxmox VE."""
        return await observe_only_proxmox(self._workspace.desired, ports)

    async def fingerprint(self, ports: Ports, identities: Sequence[str]) -> Mapping[str, str]:
        """Return digests of the current state that a plan depends on."""
        if touches_machines(identities):
            return digest_touched_objects(await self.observe(ports), identities)
        observed = await observe_plan_guests(self._workspace.desired, ports, identities)
        return digest_touched_guests(observed, identities)

    def _scope(self) -> ObservationScope:
        return ObservationScope(
            desired=self._workspace.desired,
            kubernetes=self._desired_kubernetes,
            client_files=self._workspace.client_files(),
            network=self._network,
        )

    def _known(self) -> frozenset[str]:
        desired = self._workspace.desired
        nodes, guests = desired.nodes, desired.guests
        return frozenset(
            (*(str(guest.name) for guest in nodes), *(str(guest.name) for guest in guests))
        )

    def _resolve_names(self, nodes: tuple[str, ...]) -> tuple[str, ...]:
        """Resolve names of nodes and guests; a node may be given by its address."""
        names = {str(node.address.ip): str(node.name) for node in self._workspace.desired.nodes}
        return tuple(names.get(node, node) for node in nodes)


def narrow_plan(
    plan: Plan, changes: Iterable[Change], options: PlanOptions, known: frozenset[str] = frozenset()
) -> tuple[Plan, tuple[Change, ...]]:
    """Return the requested part of a plan and its changes.

    `known` are the configured nodes; those without a step need no change.
    """
    if not (options.only or options.nodes or options.until):
        return plan, tuple(changes)
    if options.only:
        plan = plan.only(options.only)
    if options.nodes:
        plan = plan.for_nodes(options.nodes, known)
    if options.until:
        plan = plan.until(options.until)
    return plan, tuple(change for change in changes if _is_in(change, plan))


def _is_in(change: Change, plan: Plan) -> bool:
    """Whether a plan implements a change."""
    ids = {step.id for step in plan.steps}
    if step_ids := change.step_ids:
        return not ids.isdisjoint(step_ids)
    return any(step.stage is change.stage and change.node in ("", step.node) for step in plan.steps)


def _stale_files(rendering: Rendering) -> Iterator[str]:
    """Return files of disabled components that are still on disk."""
    return (action.path for action in rendering.actions if action.act is FileAction.STALE)


@record
class ObservationScope:
    """What to observe."""

    desired: Desired
    kubernetes: DesiredKubernetes | None = None
    client_files: tuple[WriteClientFile, ...] = ()
    network: Network | None = field(default=None, metadata={"shown": False})
    """Used to check whether the API address is in use. None: not checked."""
    stages: frozenset[Stage] = frozenset(Stage)
    """Stages of the plan; machines and Kubernetes are observed only if a stage needs them."""
    options: ProxmoxOptions = ProxmoxOptions()


async def observe(scope: ObservationScope, ports: Ports) -> Observed:
    """Observe everything; what cannot be read is unknown, not absent."""
    if is_on_proxmox(scope.stages):
        proxmox = await observe_only_proxmox(scope.desired, ports)
        if not shuts_down_machines(scope.desired, proxmox.proxmox, scope.options):
            return proxmox
    return await _observe_all(scope, ports)


async def observe_only_proxmox(desired: Desired, ports: Ports) -> Observed:
    """Observe only Proxmox VE."""
    proxmox = await _observe_proxmox(desired, ports)
    return Observed(at=ports.clock.now(), proxmox=proxmox, beyond_proxmox=False)


async def observe_plan_guests(
    desired: Desired, ports: Ports, identities: Iterable[str]
) -> Mapping[str, ObservedGuests]:
    """Observe the guests that a plan affects, by region."""
    numbers: defaultdict[str, set[Vmid]] = defaultdict(set)
    for region, number in filter(None, map(guest_identity, identities)):
        numbers[region].add(number)
    async with asyncio.TaskGroup() as group:
        asking = {
            region: group.create_task(
                observe_guests(
                    ProxmoxClients(
                        name=region,
                        own=ports.on(region),
                        administrator=ports.proxmox.get(admin_client_name(region)),
                    ),
                    ports.clock,
                    proxmox_query(desired, cluster),
                    frozenset(numbers[region]),
                )
            )
            for cluster in desired.proxmox
            if (region := str(cluster.region)) in ports.proxmox and region in numbers
        }
    return {region: task.result() for region, task in asking.items()}


async def _observe_all(scope: ObservationScope, ports: Ports) -> Observed:
    async with asyncio.TaskGroup() as group:
        kubernetes = group.create_task(_observe_kubernetes(scope, ports))
        proxmox = await _observe_proxmox(scope.desired, ports)
    kubernetes_state = kubernetes.result()
    leaving = find_leaving_machines(scope.desired, proxmox, kubernetes_state)
    talos = await _observe_talos(scope, leaving, ports)
    return Observed(
        at=ports.clock.now(),
        proxmox=proxmox,
        talos=talos,
        kubernetes=kubernetes_state,
        leaving=leaving,
    )


async def _observe_proxmox(desired: Desired, ports: Ports) -> Mapping[str, ObservedProxmox]:
    async with asyncio.TaskGroup() as group:
        asking = {
            str(cluster.region): group.create_task(
                observe_proxmox(
                    str(cluster.region),
                    ports.on(str(cluster.region)),
                    ports.clock,
                    proxmox_query(desired, cluster),
                    ports.proxmox.get(admin_client_name(str(cluster.region))),
                )
            )
            for cluster in desired.proxmox
            if str(cluster.region) in ports.proxmox
        }
    return {region: task.result() for region, task in asking.items()}


async def _observe_talos(
    scope: ObservationScope, leaving: Mapping[str, MachineAddress], ports: Ports
) -> ObservedTalos | None:
    if scope.desired.cluster is None or ports.talos is None:
        return None
    look = TalosQuery(desired=scope.desired, leaving=leaving, client_files=scope.client_files)
    return await observe_talos(look, ports, scope.network)


async def _observe_kubernetes(scope: ObservationScope, ports: Ports) -> ObservedKubernetes | None:
    if scope.desired.cluster is None or ports.kubernetes is None:
        return None
    desired = scope.kubernetes
    interest = KubernetesQuery()
    if desired is not None:
        secrets = (
            *desired.secrets,
            *(config_map for chart in desired.charts for config_map in chart.secrets),
        )
        maps = (config_map for chart in desired.charts for config_map in chart.config_maps)
        interest = KubernetesQuery(
            secrets=tuple(dict.fromkeys(config_map.action.ref for config_map in secrets)),
            config_maps=tuple(
                ObjectRef(kind=CONFIG_MAPS, name=config_map.name, namespace=config_map.namespace)
                for config_map in maps
            ),
            conditions=desired.conditions,
        )
    return await observe_kubernetes(ports.kubernetes, ports.clock, interest)
