"""Adopt a running cluster: describe it as files, preview their first plan, write them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from stockman.adapters import files
from stockman.app.adoption.observation import AdoptionClients, observe_cluster
from stockman.app.init import problems
from stockman.app.init.directory import (
    DraftFiles,
    InitContext,
    InitOptions,
    StartedFile,
    init_directory,
)
from stockman.app.init.from_proxmox import ProxmoxSource, find_endpoints, with_token
from stockman.app.proxmox import credentials
from stockman.app.runs.plans import ObservationScope, observe
from stockman.app.secrets.bundle import bundle_path
from stockman.app.secrets.generation import AGE_KEY, SECRET_NAMES
from stockman.app.secrets.keyring import find_keyring
from stockman.app.secrets.store import SecretStore
from stockman.assessment.adoption import problems as trouble
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
from stockman.kubernetes.objects import Object
from stockman.model.desired import Desired
from stockman.model.errors import Conflict, Refused, StockmanError
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning.desired import DesiredState
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.starter.observed import CA_FILE, ApiConnection
from stockman.ports.environment import Network
from stockman.ports.system import Entropy, Timekeeper
from stockman.rendering.repository import RenderedRepository, render_repository
from stockman.rendering.talos_files import without_references
from stockman.steps.kubernetes.objects import HELM_RELEASES, object_name
from stockman.steps.ports import Ports
from stockman.talos.credentials.talosconfig import TalosContext, read_talosconfig
from stockman.talos.documents import as_mapping


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
    description.report_release_values(
        preview_values(description.load_desired(draft), description.keys)
    )
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
    if desired.cluster is None or not _has_flux(desired):
        return None
    return desired_kubernetes(desired.cluster, _rendered(desired, keys))


def preview_values(desired: Desired, keys: Mapping[str, Secret]) -> dict[str, Object]:
    """Return the values of rendered Helm releases by name; none if Flux is disabled."""
    if desired.cluster is None or not _has_flux(desired):
        return {}
    return {
        object_name(item): as_mapping(as_mapping(item.get("spec")).get("values"))
        for placed in _rendered(desired, keys).apps
        for sheet in placed.app.sheets
        for item in sheet.objects
        if item.get("kind") == HELM_RELEASES.name
    }


def _has_flux(desired: Desired) -> bool:
    flux = desired.components.get("flux-instance")
    return flux is not None and flux.enabled is True


def _rendered(desired: Desired, keys: Mapping[str, Secret]) -> RenderedRepository:
    known = without_references(desired, _NOT_KNOWN)
    return render_repository(known, _materials(keys), "classic", Problems())


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


_LARGEST = 1 << 20


@record
class ClientSources:
    """Client configuration files and Proxmox login of a user."""

    kubeconfig: Path
    talosconfig: Path
    proxmox: ProxmoxSource


def usual_files(environment: Mapping[str, str]) -> tuple[Path, Path]:
    """Return the default paths of kubeconfig and talosconfig."""
    home = Path(environment.get("HOME", "~")).expanduser()
    kubeconfig = environment.get("KUBECONFIG", "").partition(":")[0]
    talosconfig = environment.get("TALOSCONFIG", "")
    return (
        Path(kubeconfig) if kubeconfig else home / ".kube" / "config",
        Path(talosconfig) if talosconfig else home / ".talos" / "config",
    )


@asynccontextmanager
async def open_clients(
    clients: ClientSources, network: Network, clock: Timekeeper
) -> AsyncIterator[tuple[AdoptionClients, ApiConnection]]:
    """Open all clients until the context ends; refuse files that cannot be used."""
    from stockman.adapters.kubernetes.transport import HttpKubernetes, endpoint_from_kubeconfig
    from stockman.adapters.proxmox.endpoint import Endpoints as ProxmoxEndpoints
    from stockman.adapters.proxmox.transport import HttpProxmox
    from stockman.adapters.talos.endpoint import TalosEndpoints
    from stockman.adapters.talos.transport import GrpcTalos

    context = _current_context(clients.talosconfig)
    endpoint = endpoint_from_kubeconfig(clients.kubeconfig)
    source = clients.proxmox
    servers = ProxmoxEndpoints(urls=(source.url,), trust=source.trust)
    async with AsyncExitStack() as stack:
        proxmox = await stack.enter_async_context(
            HttpProxmox(servers, credentials(source.asker), clock)
        )
        talos = await stack.enter_async_context(GrpcTalos(TalosEndpoints.of(context)))
        kubernetes = await stack.enter_async_context(HttpKubernetes(endpoint, clock))
        reached = await find_endpoints(source, proxmox, await proxmox.cluster_state(), network)
        adoption_clients = AdoptionClients(
            proxmox=proxmox,
            talos=talos,
            kubernetes=kubernetes,
            clock=clock,
            endpoints=context.endpoints,
            authority=endpoint.context.ca,
        )
        yield adoption_clients, with_token(reached, source.asker)


def _current_context(path: Path) -> TalosContext:
    try:
        with path.open("rb") as file:
            text = Secret(file.read(_LARGEST).decode("utf-8", "replace"))
    except OSError as error:
        raise Refused(
            trouble.talosconfig(str(path), error.strerror or type(error).__name__)
        ) from None
    problems = Problems()
    talosconfig = read_talosconfig(str(path), text, problems)
    for problem in problems.errors:
        raise Refused(problem)
    context = talosconfig.contexts.get(talosconfig.context) if talosconfig is not None else None
    if context is None:
        raise Refused(trouble.talosconfig(str(path), "it has no current context"))
    return context


@record
class AdoptionResult:
    """What happened to each file."""

    files: tuple[StartedFile, ...]
    problems: Problems

    @property
    def complete(self) -> bool:
        return all(file.state != "refused" for file in self.files)


def refuse_existing(directory: Path) -> None:
    """Refuse a directory that already describes a cluster."""
    for name in ("cluster.yaml", "nodes.yaml", "cluster.toml", bundle_path("classic")):
        if files.path_exists(directory / name):
            raise Conflict(trouble.exists(directory / name))


def write_adoption(
    adoption: Adoption, directory: Path, context: InitContext, *, dry_run: bool = False
) -> AdoptionResult:
    """Write all files; create encryption keys as `stockman init` does."""
    refuse_existing(directory)
    extra = dict(adoption.draft.patches)
    if adoption.connection.ca is not None:
        extra[CA_FILE] = adoption.connection.ca
    for name in (*extra, *adoption.draft.secrets):
        if files.path_exists(directory / name):
            raise Conflict(trouble.exists(directory / name))
    bundle = adoption.bundle
    making = replace(context, make_bundle=lambda *_: bundle, keys=adoption.keys)
    init_options = InitOptions(
        directory=directory,
        preset="",
        dialect="classic",
        draft=DraftFiles(texts=adoption.draft.texts, extra_files=extra),
    )
    started = init_directory(init_options, making, dry_run=dry_run)
    try:
        sealed = tuple(_encrypt_bundle(directory, adoption, context, dry_run=dry_run))
    except OSError as error:
        why = error.strerror or type(error).__name__
        failed_path = str(error.filename or directory)
        raise StockmanError(problems.unwritable(failed_path, why)) from None
    return AdoptionResult(files=(*started.files, *sealed), problems=started.problems)


def _encrypt_bundle(
    directory: Path, adoption: Adoption, context: InitContext, *, dry_run: bool
) -> Iterator[StartedFile]:
    if adoption.draft.secrets and not dry_run:
        store = SecretStore(
            directory, find_keyring(directory, {}), {}, context.clock, context.entropy
        )
        for name, text in adoption.draft.secrets.items():
            store.create(name, text.reveal().encode())
    for name in adoption.draft.secrets:
        yield StartedFile(path=name, state="written")
