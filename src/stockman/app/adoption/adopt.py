"""Adopt a running cluster: observe it, describe it as files and preview their first plan."""

from __future__ import annotations

from stockman.app.adoption.kubernetes import preview_kubernetes
from stockman.app.adoption.observation import AdoptionClients, observe_cluster
from stockman.app.runs.observation import ObservationScope, observe
from stockman.assessment.adoption.description import (
    Adoption,
    AdoptionOptions,
    ClusterDescription,
    describe_cluster,
)
from stockman.assessment.adoption.draft import Draft
from stockman.assessment.adoption.expected_plan import ExpectedPlan, assess_plan
from stockman.planning.desired import DesiredState
from stockman.ports.system import Entropy
from stockman.steps.ports import Ports


async def adopt_cluster(
    clients: AdoptionClients, options: AdoptionOptions, entropy: Entropy
) -> Adoption:
    """Observe the cluster and describe it as files, without changing anything."""
    description = describe_cluster(await observe_cluster(clients, "pve"), options)
    contract, operations = description.closest_contract()
    description.report_losses(contract)
    draft = description.draft(contract, operations)
    plan = await _preview_plan(description, draft, clients, entropy)
    while guests := description.unmanageable_guests(plan):
        description.exclude_guests(guests)
        draft = description.draft(contract, operations)
        plan = await _preview_plan(description, draft, clients, entropy)
    return description.adoption(draft, plan)


async def _preview_plan(
    description: ClusterDescription, draft: Draft, clients: AdoptionClients, entropy: Entropy
) -> ExpectedPlan:
    """Plan with the existing clients, as `stockman plan` does, without changing anything."""
    desired = description.load_desired(draft)
    state = DesiredState(
        desired=desired,
        configurations=description.configurations(draft),
        kubernetes=preview_kubernetes(desired, description.keys),
    )
    ports = Ports(
        clock=clients.clock,
        entropy=entropy,
        proxmox={str(cluster.region): clients.proxmox for cluster in desired.proxmox},
        talos=clients.talos,
        kubernetes=clients.kubernetes,
    )
    scope = ObservationScope(desired=desired, kubernetes=state.kubernetes)
    return assess_plan(state, await observe(scope, ports), clients.clock.now())
