"""Open the clients of a run: every configured system."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from stockman.app.proxmox import (
    HttpTokenTest,
    administrator_endpoints,
    authority_of,
    find_administrator,
    proxmox_endpoints,
)
from stockman.app.runs.workspace import RunWorkspace
from stockman.app.secrets import proxmox_tokens
from stockman.model.errors import Denied, NotFound, Refused
from stockman.model.problem import Problem
from stockman.model.proxmox import OWN_TOKEN, ProxmoxCluster
from stockman.model.proxmox_values import split_token
from stockman.model.secret import Secret
from stockman.ports.system import Timekeeper
from stockman.steps.access.admin import admin_client_name
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef

if TYPE_CHECKING:
    from stockman.adapters.kubernetes.transport import HttpKubernetes
    from stockman.adapters.proxmox.credentials import Login
    from stockman.adapters.proxmox.endpoint import Endpoints
    from stockman.adapters.proxmox.transport import HttpProxmox
    from stockman.adapters.talos.transport import GrpcTalos
    from stockman.talos.credentials.certificates import ClientIssuer

_API_PORT = 6443
_CERTIFICATE_LIFETIME = timedelta(days=1)
"""Of the certificates of a run, which are only in memory."""
_FROM_CONFIGURATION = "proxmox_token_secret of the configuration"
_PULL_HINT = (
    "run `git pull` in case somebody renewed it; `stockman apply --only access` with the token of"
    " an administrator creates a missing token, and reports other problems"
)


@asynccontextmanager
async def open_clients(
    workspace: RunWorkspace,
    clock: Timekeeper,
    admin: Login | None = None,
    *,
    grants_access: bool = False,
) -> AsyncIterator[Ports]:
    """Open every configured system until the context ends.

    A step that needs another system fails with `plan.no-door`. With `grants_access` an
    administrator reads and grants access: `admin`, or by default that of the environment. Without
    it the credentials of an administrator are not used.
    """
    from stockman.adapters.git.repository import LocalGitRepository

    async with AsyncExitStack() as stack:
        desired = workspace.desired
        proxmox, addresses = {}, {}
        for number, cluster in enumerate(desired.proxmox):
            if not cluster.endpoint and not cluster.endpoints:
                continue
            region = str(cluster.region)
            endpoints = addresses[region] = _endpoints(workspace, cluster)
            proxmox[region] = await stack.enter_async_context(
                _own_client(workspace, cluster, endpoints, clock)
            )
            if not grants_access:
                continue
            granting = find_administrator(workspace.environment, cluster, number, admin)
            if granting is not None:
                from stockman.adapters.proxmox.transport import HttpProxmox

                bound = administrator_endpoints(
                    workspace.environment, number, granting.source, endpoints
                )
                client = HttpProxmox(bound, granting, clock)
                proxmox[admin_client_name(region)] = await stack.enter_async_context(client)
        ports = Ports(
            clock=clock,
            entropy=workspace.entropy,
            proxmox=proxmox,
            repo=LocalGitRepository(workspace.directory),
            secrets=workspace.secrets(),
            tree=workspace.tree,
            trial=HttpTokenTest(addresses, clock),
        )
        if workspace.cluster is None:
            yield ports
            return
        from dataclasses import replace

        from stockman.adapters.images import HttpImages

        images = HttpImages(workspace.cluster.talos.factory_url)
        yield replace(
            ports,
            images=await stack.enter_async_context(images),
            talos=await stack.enter_async_context(_talos(workspace)),
            kubernetes=await stack.enter_async_context(_kubernetes(workspace, clock)),
        )


def _endpoints(workspace: RunWorkspace, cluster: ProxmoxCluster) -> Endpoints:
    authority = authority_of(cluster, workspace.directory)
    return proxmox_endpoints(cluster, workspace.desired.connect, authority)


def _own_client(
    workspace: RunWorkspace, cluster: ProxmoxCluster, endpoints: Endpoints, clock: Timekeeper
) -> HttpProxmox:
    """Open our own client; the run may create its token."""
    from stockman.adapters.proxmox.credentials import ApiToken, DeferredToken
    from stockman.adapters.proxmox.transport import HttpProxmox

    token_id = cluster.token_id or OWN_TOKEN
    kept = SecretRef(place=f"token:{cluster.region}/{token_id}")

    def token() -> ApiToken:
        try:
            if cluster.token_secret is None:
                secret = workspace.secret_locations.read_now(kept)
            else:
                secret = workspace.resolve(cluster).token_secret or Secret("")
        except (NotFound, Refused) as error:
            raise Denied(no_token(token_id, str(cluster.region), error.problem.why)) from None
        name, alone = split_token(token_id, secret)
        if is_stored_token(cluster, token_id):
            return ApiToken(id=name, secret=alone, source=proxmox_tokens.FILE, hint=_PULL_HINT)
        return ApiToken(id=name, secret=alone, source=_FROM_CONFIGURATION)

    return HttpProxmox(endpoints, DeferredToken(token), clock)


def is_stored_token(cluster: ProxmoxCluster, token_id: str) -> bool:
    """Whether the token's secret is stored by stockman."""
    reference = proxmox_tokens.token_reference(str(cluster.region), token_id)
    configured = cluster.token_secret
    return configured is None or configured.reveal() == reference.reveal()


def _issuer(workspace: RunWorkspace) -> ClientIssuer:
    from stockman.talos.credentials.certificates import ClientIssuer

    if workspace.cluster is None:
        raise ValueError("certificates without a cluster")
    return ClientIssuer(
        bundle=workspace.bundle,
        talos=workspace.cluster.talos.contract,
        now=workspace.clock.now(),
        random_bytes=workspace.entropy.random_bytes,
    )


def _talos(workspace: RunWorkspace) -> GrpcTalos:
    """Open a Talos client as administrator, with a temporary certificate."""
    from stockman.adapters.talos.endpoint import ClientIdentity, TalosEndpoints
    from stockman.adapters.talos.transport import GrpcTalos
    from stockman.talos.credentials.roles import TalosRole

    issuer = _issuer(workspace)
    certificate = issuer.talos_client([TalosRole.ADMIN], _CERTIFICATE_LIFETIME)
    identity = ClientIdentity(
        ca=issuer.bundle.certs.os.crt, crt=certificate.crt, key=certificate.key
    )
    nodes = workspace.desired.nodes
    hosts = tuple(str(node.address.ip) for node in nodes if node.is_controller)
    return GrpcTalos(
        TalosEndpoints(hosts=hosts, identity=identity, connect=workspace.desired.connect)
    )


def _kubernetes(workspace: RunWorkspace, clock: Timekeeper) -> HttpKubernetes:
    """Open a Kubernetes client as administrator at the shared address."""
    from stockman.adapters.kubernetes.credentials import KubernetesEndpoint
    from stockman.adapters.kubernetes.transport import HttpKubernetes
    from stockman.kubernetes.kubeconfig import read_context
    from stockman.talos.credentials.certificates import (
        KUBERNETES_ADMIN,
        KUBERNETES_ADMINS,
        CertificateRequirements,
    )
    from stockman.talos.credentials.kubeconfig import DesiredAdmin, update_kubeconfig

    issuer, cluster = _issuer(workspace), workspace.cluster
    if cluster is None:
        raise ValueError("Kubernetes without a cluster")
    admin = DesiredAdmin(
        cluster=cluster.name,
        endpoint=f"https://{cluster.kubernetes.api_addr}:{_API_PORT}",
        required=CertificateRequirements(
            authority=issuer.bundle.certs.k8s.crt,
            organizations=(KUBERNETES_ADMINS,),
            common_name=KUBERNETES_ADMIN,
        ),
        renew=False,
        shared=False,
    )
    make = partial(issuer.kubernetes_admin, _CERTIFICATE_LIFETIME)
    certificate = update_kubeconfig("", Secret(""), admin, issuer.now, make)
    context = read_context("kubeconfig", Secret(certificate.text.reveal(), resolved=True))
    return HttpKubernetes(
        KubernetesEndpoint(context=context, connect=workspace.desired.connect), clock
    )


def no_token(token_id: str, region: str, why: str) -> Problem:
    return Problem(
        code="proxmox.no-token",
        what=f"the secret of token {token_id} for Proxmox cluster {region} is missing",
        where="proxmox.token_secret",
        why=why,
        fix="set token_secret, or create the token as an administrator: set PROXMOX_VE_ENDPOINT,"
        " and PROXMOX_VE_API_TOKEN, or PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD, and run"
        " `stockman apply --only access`",
    )
