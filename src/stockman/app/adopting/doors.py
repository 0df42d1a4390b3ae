"""Doors to the cluster that is to be adopted: a kubeconfig, a talosconfig, and a token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from stockman.app.adopting import problems as trouble
from stockman.app.adopting.looking import Doors
from stockman.app.proxmox_credentials import credentials
from stockman.app.proxmox_start import Errand, reached_by, with_token
from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning.starter.reached import Reached
from stockman.ports.clock import Timekeeper
from stockman.ports.probe import Network
from stockman.talos.talosconfig import Context, read_talosconfig

_LARGEST = 1 << 20


@record
class Clients:
    """What a user has of a cluster."""

    kubeconfig: Path
    talosconfig: Path
    proxmox: Errand


def usual_files(environment: Mapping[str, str]) -> tuple[Path, Path]:
    """Where kubectl and talosctl look: kubeconfig and talosconfig."""
    home = Path(environment.get("HOME", "~")).expanduser()
    kubeconfig = environment.get("KUBECONFIG", "").partition(":")[0]
    talosconfig = environment.get("TALOSCONFIG", "")
    return (
        Path(kubeconfig) if kubeconfig else home / ".kube" / "config",
        Path(talosconfig) if talosconfig else home / ".talos" / "config",
    )


@asynccontextmanager
async def opened(
    clients: Clients, network: Network, clock: Timekeeper
) -> AsyncIterator[tuple[Doors, Reached]]:
    """Every door, closed afterwards, and how Proxmox was reached. Refuses files that cannot be
    used."""
    from stockman.adapters.grpc_talos.door import GrpcTalos
    from stockman.adapters.grpc_talos.endpoint import Endpoints as TalosEndpoints
    from stockman.adapters.http_kubernetes.door import HttpKubernetes, endpoint_of
    from stockman.adapters.http_proxmox.door import HttpProxmox
    from stockman.adapters.http_proxmox.endpoint import Endpoints as ProxmoxEndpoints

    context = _context(clients.talosconfig)
    endpoint = endpoint_of(clients.kubeconfig)
    errand = clients.proxmox
    servers = ProxmoxEndpoints(urls=(errand.url,), trust=errand.trust)
    async with AsyncExitStack() as stack:
        proxmox = await stack.enter_async_context(
            HttpProxmox(servers, credentials(errand.asker), clock)
        )
        talos = await stack.enter_async_context(GrpcTalos(TalosEndpoints.of(context)))
        kubernetes = await stack.enter_async_context(HttpKubernetes(endpoint, clock))
        reached = await reached_by(errand, proxmox, await proxmox.cluster_state(), network)
        doors = Doors(
            proxmox=proxmox,
            talos=talos,
            kubernetes=kubernetes,
            clock=clock,
            endpoints=context.endpoints,
            authority=endpoint.context.ca,
        )
        yield doors, with_token(reached, errand.asker)


def _context(path: Path) -> Context:
    try:
        with path.open("rb") as file:
            text = Secret(file.read(_LARGEST).decode("utf-8", "replace"))
    except OSError as error:
        raise Refused(
            trouble.talosconfig(str(path), error.strerror or type(error).__name__)
        ) from None
    problems = Problems()
    found = read_talosconfig(str(path), text, problems)
    for problem in problems.errors:
        raise Refused(problem)
    context = found.contexts.get(found.context) if found is not None else None
    if context is None:
        raise Refused(trouble.talosconfig(str(path), "it has no current context"))
    return context
