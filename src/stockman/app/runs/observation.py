"""Observe a cluster: Proxmox VE, machines and Kubernetes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import field

from stockman.engine.observe.kubernetes import KubernetesQuery, observe_kubernetes
from stockman.engine.observe.proxmox import observe_guests, observe_proxmox
from stockman.engine.observe.talos import TalosQuery, observe_talos
from stockman.kubernetes.objects import CONFIG_MAPS, ObjectRef
from stockman.model.desired import Desired
from stockman.model.names import MachineAddress, Vmid
from stockman.model.record import record
from stockman.planning.desired import ProxmoxOptions
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.observed.kubernetes import ObservedKubernetes
from stockman.planning.observed.proxmox import ObservedGuests, ObservedProxmox
from stockman.planning.observed.systems import Observed
from stockman.planning.observed.talos import ObservedTalos
from stockman.planning.scope import is_on_proxmox, shuts_down_machines
from stockman.planning.stages.proxmox import guest_identity, proxmox_query
from stockman.planning.vm.removal import find_leaving_machines
from stockman.ports.environment import Network
from stockman.steps.access.admin import admin_client_name
from stockman.steps.ports import Ports
from stockman.steps.step import Stage
from stockman.steps.talos.client_files import WriteClientFile


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
                    region,
                    ports.proxmox.get(admin_client_name(region)) or ports.on(region),
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
