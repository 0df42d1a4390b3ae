"""Draft the first files for an existing Proxmox cluster.

Proxmox VE is only read. The token is sent only to servers whose certificate is trusted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from stockman.app.init.directory import DraftFiles
from stockman.app.init.proxmox_survey import free_vmids, survey_cluster
from stockman.app.proxmox import ProxmoxLogin, credentials
from stockman.config.presets import Answers, apply_answers, default_answers
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.version import Version
from stockman.planning.starter.cluster_text import cluster_text, disk_storages
from stockman.planning.starter.draft import (
    Draft,
    DraftOptions,
    build_draft,
    free_name,
    is_name_in_use,
)
from stockman.planning.starter.nodes_text import nodes_text
from stockman.planning.starter.observed import CA_FILE, ApiConnection
from stockman.ports.environment import Certificate, Network, NoAnswer, ServerAddress, Trust
from stockman.ports.system import Timekeeper
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import ClusterState

if TYPE_CHECKING:
    from stockman.adapters.proxmox.endpoint import Endpoints

_ROOT_CA = "pve-root-ca.pem"
_PLAIN_PRESET = "single"


@record
class ProxmoxSource:
    """Address, login and choices of the user."""

    url: str
    asker: ProxmoxLogin
    trust: Trust = Trust()
    options: DraftOptions = DraftOptions()
    answers: Answers = Answers()


@record
class ProxmoxProposal:
    """The drafted files and what they are based on."""

    draft: Draft
    connection: ApiConnection
    name: str
    """Name of the Proxmox cluster."""
    first_vmid: int
    files: DraftFiles


async def fetch_certificate(url: str, network: Network) -> Certificate:
    """Return the certificate of a server, verified by the system's CAs; nothing else is sent."""
    from stockman.adapters.proxmox import errors
    from stockman.adapters.proxmox.endpoint import format_address

    server = _door(url)
    try:
        return await network.certificate(server, Trust())
    except NoAnswer as silence:
        raise errors.unreachable_error(format_address(server), str(silence)) from None


async def propose_files(
    source: ProxmoxSource, network: Network, clock: Timekeeper
) -> ProxmoxProposal:
    """Draft files for the cluster at an address. Raises `Refused` or `Denied` if that is
    impossible."""
    from stockman.adapters.proxmox.transport import HttpProxmox

    async with HttpProxmox(_endpoints(source), credentials(source.asker), clock) as pve:
        state = await pve.cluster_state()
        reached = await find_endpoints(source, pve, state, network)
        return await propose_files_with_client(pve, source, reached)


async def propose_files_with_client(
    pve: ProxmoxClient, source: ProxmoxSource, reached: ApiConnection
) -> ProxmoxProposal:
    """Draft files for the cluster behind a client."""
    draft = build_draft(await survey_cluster(pve), source.options)
    first_vmid = await free_vmids(pve, draft.observed, draft.shape.count)
    reached = with_token(reached, source.asker)
    talos = Version.parse(default_answers(_PLAIN_PRESET).talos_version or "")
    name = source.answers.cluster_name or free_name(draft.observed)
    cluster = cluster_text(draft, reached, talos, name)
    texts = {
        "cluster.yaml": apply_answers(cluster, source.answers),
        "nodes.yaml": nodes_text(draft, first_vmid, name),
    }
    beside = {CA_FILE: reached.ca} if reached.ca is not None else {}
    files = DraftFiles(texts=texts, extra_files=beside)
    return ProxmoxProposal(
        draft=draft, connection=reached, name=name, first_vmid=first_vmid, files=files
    )


def with_token(reached: ApiConnection, asker: ProxmoxLogin) -> ApiConnection:
    """Return the connection with the token that the files will name."""
    return replace(
        reached,
        token_id=asker.token_id,
        token_why=asker.token_why,
        token_is_given=asker.is_permanent,
    )


async def find_endpoints(
    source: ProxmoxSource, pve: ProxmoxClient, state: ClusterState, network: Network
) -> ApiConnection:
    ca, why = await _authority(source, pve, state, network)
    pinned = source.trust.fingerprint if ca is None else None
    trust = Trust(ca=ca.encode() if ca is not None else source.trust.ca, fingerprint=pinned)
    reachable, silent = await _others(source.url, state, trust, network)
    return ApiConnection(
        url=source.url.rstrip("/"),
        others=reachable,
        silent=silent,
        ca=ca,
        fingerprint=pinned,
        trust_why=why,
    )


async def _authority(
    source: ProxmoxSource, pve: ProxmoxClient, state: ClusterState, network: Network
) -> tuple[str | None, str]:
    """Return the CA for the files, and why. None: the pinned one, or those of the system."""
    if source.trust.ca is not None:
        return source.trust.ca.decode("utf-8", "replace"), "The CA that was given."
    if source.trust.fingerprint is None:
        return None, "The certificate is trusted by the CAs of the system."
    local = next((member.name for member in state.members if member.is_local), None)
    rows = await pve.host_certificates(local) if local is not None else ()
    own = next((row.pem for row in rows if row.filename == _ROOT_CA and row.pem), None)
    if own is not None and not await _flaw(_door(source.url), Trust(ca=own.encode()), network):
        return own if own.endswith("\n") else f"{own}\n", (
            "The CA of the hosts, told by the host whose fingerprint was confirmed. It stays when"
            " certificates are renewed."
        )
    return None, (
        "The certificate that was confirmed; the CA of the hosts did not sign it for this address."
        " It has to be pinned anew when it is renewed."
    )


async def _others(
    url: str, state: ClusterState, trust: Trust, network: Network
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return addresses of other hosts that answer and are trusted, and why the rest is left out.

    IPv6 addresses are left out, because the files cannot hold them.
    """
    first = _door(url)
    members = [
        address for address in state.members if not address.is_local and ":" not in address.address
    ]
    servers = [
        ServerAddress(host=address.address, port=first.port)
        for address in members
        if address.address not in ("", first.host)
    ]
    flaws = await asyncio.gather(*(_flaw(server, trust, network) for server in servers))
    judged = [(_url(server), flaw) for server, flaw in zip(servers, flaws, strict=True)]
    good = tuple(address for address, flaw in judged if not flaw)
    return good, tuple((address, flaw) for address, flaw in judged if flaw)


async def _flaw(server: ServerAddress, trust: Trust, network: Network) -> str:
    """Return why a server cannot be trusted or used, as a clause. Empty: it can."""
    try:
        return (await network.certificate(server, trust)).flaw
    except NoAnswer as silence:
        return str(silence)


def _endpoints(source: ProxmoxSource) -> Endpoints:
    from stockman.adapters.proxmox.endpoint import Endpoints

    return Endpoints(urls=(source.url,), trust=source.trust)


def _door(url: str) -> ServerAddress:
    from stockman.adapters.proxmox.endpoint import Endpoints

    return Endpoints(urls=(url,)).servers()[0]


def _url(server: ServerAddress) -> str:
    return f"https://{server.host}:{server.port}"


def unknown_certificate(url: str, certificate: Certificate) -> Refused:
    """Return the problem of a certificate that no CA of the system signed."""
    return Refused(
        Problem(
            code="init.untrusted",
            what="the certificate of Proxmox VE is not trusted, and no token was sent",
            where=url,
            why=f"{certificate.flaw}; its fingerprint is {certificate.fingerprint}",
            fix="compare that with what `pvenode cert info` prints on the host, and run this again"
            f" with `--fingerprint {certificate.fingerprint}`; or pass the host's"
            " /etc/pve/pve-root-ca.pem with `--ca-file`",
        )
    )


def describe_proposal(looked_at: ProxmoxProposal) -> Iterable[str]:
    """Describe what was found and chosen, in a few lines."""
    draft = looked_at.draft
    hosts = ", ".join(host.name for host in draft.hosts)
    yield f"Proxmox VE {draft.observed.version} at {looked_at.connection.url}: hosts {hosts}"
    for name, why in draft.away:
        yield f"left out is {name}: {why}"
    if is_name_in_use(draft.observed, looked_at.name):
        yield f"a cluster {looked_at.name} has machines there already: another needs another name"
    last = looked_at.first_vmid + draft.shape.count - 1
    vmids = (
        f"VM id {last}" if draft.shape.count == 1 else f"VM ids {looked_at.first_vmid} to {last}"
    )
    yield (
        f"chosen: preset {draft.shape.preset}, disks on {disk_storages(draft)}, images on"
        f" {draft.storages.images}, bridge {draft.network.bridge}, network"
        f" {draft.network.network}, {vmids}"
    )
