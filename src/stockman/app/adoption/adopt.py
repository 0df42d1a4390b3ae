"""Adopt a running cluster: observe it, describe it as files and preview their first plan."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.app.adoption.observation import AdoptionClients, observe_cluster
from stockman.app.runs.observation import ObservationScope, observe
from stockman.app.secrets.generation import AGE_KEY, SECRET_NAMES
from stockman.assessment.adoption.description import (
    Adoption,
    AdoptionOptions,
    ClusterDescription,
    describe_cluster,
)
from stockman.assessment.adoption.draft import Draft
from stockman.assessment.adoption.expected_plan import ExpectedPlan, assess_plan
from stockman.assessment.kubernetes import desired_kubernetes
from stockman.catalog.component import InputFiles
from stockman.crypto.age.identities import parse_identities
from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.planning.desired import DesiredState
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.ports.system import Entropy
from stockman.rendering.repository import render_repository
from stockman.rendering.talos_files import without_references
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


_NOT_KNOWN = Secret("not known yet", resolved=True)


def preview_kubernetes(desired: Desired, keys: Mapping[str, Secret]) -> DesiredKubernetes | None:
    """Return the objects installed before Flux. None: Flux is disabled."""
    flux = desired.components.get("flux-instance")
    if desired.cluster is None or flux is None or not flux.enabled:
        return None
    settled_ = without_references(desired, _NOT_KNOWN)
    rendered = render_repository(settled_, _materials(keys), "classic", Problems())
    return desired_kubernetes(desired.cluster, rendered)


def _materials(keys: Mapping[str, Secret]) -> InputFiles:
    identity, recipient = _identity(keys.get(AGE_KEY))
    return InputFiles(
        age_recipient=recipient,
        age_identity=identity,
        deploy_key=keys.get(SECRET_NAMES["classic"].deploy_key, _NOT_KNOWN),
        webhook_token=_NOT_KNOWN,
    )


def _identity(known: Secret | None) -> tuple[Secret, str]:
    """Return the age identity and recipient, or new ones if no identity can be read."""
    try:
        identity = parse_identities(known.reveal(), AGE_KEY)[0] if known is not None else None
    except StockmanError:
        identity = None
    return (_NOT_KNOWN, "age1notknown") if identity is None else (identity.text, identity.recipient)
