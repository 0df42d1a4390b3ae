"""Clients of the cluster to adopt, from a kubeconfig, a talosconfig and a Proxmox token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from stockman.app.adoption.observation import AdoptionClients
from stockman.app.init.from_proxmox import ProxmoxSource, find_endpoints, with_token
from stockman.app.proxmox.credentials import credentials
from stockman.assessment.adoption import problems as trouble
from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning.starter.observed import ApiConnection
from stockman.ports.environment import Network
from stockman.ports.system import Timekeeper
from stockman.talos.credentials.talosconfig import TalosContext, read_talosconfig

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
