"""Renders `cluster.yaml` for an observed Proxmox cluster."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.config.presets import UNPUBLISHED
from stockman.config.writers.yaml_writer import format_scalar
from stockman.model.compatibility import talos_line
from stockman.model.version import Version
from stockman.planning.starter.comments import listing, paragraph
from stockman.planning.starter.draft import Draft
from stockman.planning.starter.observed import (
    CA_FILE,
    GIB,
    ApiConnection,
    StarterBridge,
    StarterHost,
    StarterStorage,
)
from stockman.planning.starter.sizing import HOST_RESERVE, free_memory


def cluster_text(draft: Draft, connection: ApiConnection, talos: Version, name: str) -> str:
    """Return the file, with the defaults of everything that is not about Proxmox."""
    return "\n".join(_lines(draft, connection, talos, name)) + "\n"


def _lines(draft: Draft, connection: ApiConnection, talos: Version, name: str) -> Iterator[str]:
    yield from _header(draft, connection)
    yield ""
    yield f"cluster_name: {format_scalar(name)}"
    yield ""
    yield from _versions(talos)
    yield ""
    yield from _network(draft)
    yield ""
    yield from paragraph(
        "Flux makes the cluster follow this repository on GitHub; an https or ssh address works"
        " too."
    )
    yield f"repository_name: {format_scalar(f'example/{name}')}"
    yield ""
    yield UNPUBLISHED
    yield from _proxmox(draft, connection)


def _header(draft: Draft, connection: ApiConnection) -> Iterator[str]:
    observed = draft.observed
    origin = f"Proxmox cluster {observed.cluster}" if observed.cluster else "a Proxmox host"
    yield "# The desired state of the cluster. Its machines are in nodes.yaml."
    yield "#"
    yield from paragraph(
        f"Created for the {origin} at {connection.url}; nothing was changed there."
        " `stockman explain KEY` describes a key and related keys."
    )
    yield "#"
    yield "# Observed:"
    yield from listing(_cluster_comment(draft))
    yield "#"
    yield "# Chosen:"
    yield from listing(_chosen_comment(draft))
    yield "#"
    yield "# Placeholders, which Proxmox VE does not know. Check first:"
    yield from listing(_placeholder_comment(draft))
    yield "#"
    yield "# This file holds no secret: ${NAME} is read from the environment when needed."


def _cluster_comment(draft: Draft) -> Iterator[tuple[str, str]]:
    yield "version", f"Proxmox VE {draft.observed.version}"
    for host in draft.hosts:
        yield f"host {host.name}", _host(host)
    for name, why in draft.away:
        yield f"host {name}", f"left out: {why}"
    yield from _storages(draft.hosts)
    yield from _bridges(draft.hosts)
    for clause in draft.observed.unseen:
        yield "not visible", clause


def _host(host: StarterHost) -> str:
    return (
        f"{host.cores} CPU threads, {host.memory // 1024} GiB of memory,"
        f" {free_memory(host) // 1024} GiB of it unassigned"
    )


def _storages(hosts: tuple[StarterHost, ...]) -> Iterator[tuple[str, str]]:
    names = dict.fromkeys(storage.name for host in hosts for storage in host.storages)
    for name in names:
        rows = {
            str(host.name): storage
            for host in hosts
            for storage in host.storages
            if storage.name == name
        }
        yield f"storage {name}", _storage(rows, len(hosts))


def _storage(rows: dict[str, StarterStorage], hosts: int) -> str:
    first = next(iter(rows.values()))
    content = ", ".join(sorted(first.content)) or "nothing"
    where = "shared" if first.shared else _list_items(hosts)
    if len(rows) < hosts:
        where = f"on {', '.join(rows)} only"
    known_sizes = [storage.free for storage in rows.values() if storage.free is not None]
    free = f", {min(known_sizes) // GIB} GiB free" if known_sizes else ""
    down = [name for name, storage in rows.items() if not storage.available]
    away = f", not available on {', '.join(down)}" if down else ""
    return f"{first.kind}, {where}{free}, for {content}{away}"


def _bridges(hosts: tuple[StarterHost, ...]) -> Iterator[tuple[str, str]]:
    labels = dict.fromkeys(bridge.label for host in hosts for bridge in host.bridges)
    for name in labels:
        rows = {
            str(host.name): bridge
            for host in hosts
            for bridge in host.bridges
            if bridge.label == name
        }
        yield f"bridge {name}", _bridge(rows, len(hosts))


def _bridge(rows: dict[str, StarterBridge], hosts: int) -> str:
    where = _list_items(hosts) if len(rows) == hosts else f"on {', '.join(rows)} only"
    networks = dict.fromkeys(str(bridge.network) for bridge in rows.values() if bridge.network)
    leads = f", in {', '.join(networks)}" if networks else ", without an address on any host"
    aware = "VLAN aware" if all(bridge.vlan_aware for bridge in rows.values()) else "not VLAN aware"
    down = [name for name, bridge in rows.items() if not bridge.active]
    away = f", down on {', '.join(down)}" if down else ""
    return f"{where}, {aware}{leads}{away}"


def _list_items(hosts: int) -> str:
    return "on each host" if hosts > 1 else "on the host"


def disk_storages(draft: Draft) -> str:
    """Return the names of the storages that hold disks."""
    return ", ".join(sorted(set(draft.storages.disks.values())))


def _chosen_comment(draft: Draft) -> Iterator[tuple[str, str]]:
    yield f"preset {draft.shape.preset}", draft.shape_why
    yield f"disks on {disk_storages(draft)}", draft.storages.disks_why
    yield f"images on {draft.storages.images}", draft.storages.images_why
    tagged = f" VLAN {draft.network.vlan}" if draft.network.vlan is not None else ""
    yield f"bridge {draft.network.bridge}{tagged}", draft.network.bridge_why
    yield f"network {draft.network.network}", draft.network.network_why
    yield f"gateway {draft.network.gateway}", draft.network.gateway_why


def _placeholder_comment(draft: Draft) -> Iterator[tuple[str, str]]:
    network = draft.network
    yield (
        f"{network.api} to {network.names}",
        "make sure that they are not in use and not in a DHCP range",
    )
    yield "repository_name", "the Git repository that Flux follows"


def _versions(talos: Version) -> Iterator[str]:
    yield from paragraph(
        "Renovate may update versions. talos_contract is fixed: it is the format of the machine"
        " configurations, and only a plan changes it."
    )
    line = talos_line(talos)
    yield f"talos_version: {format_scalar(talos.bare)}"
    yield f'talos_contract: "{talos.minor_text}"'
    if line is not None:
        yield f"kubernetes_version: {format_scalar(line.kubernetes_default.bare)}"
    yield ""
    yield "talos:"
    yield "  # Included in the boot image."
    yield "  extensions:"
    yield "    - siderolabs/qemu-guest-agent"


def _network(draft: Draft) -> Iterator[str]:
    network = draft.network
    yield from paragraph(f"The network of the nodes: {network.network_why}.")
    yield f"node_cidr: {network.network}"
    yield f"node_default_gateway: {network.gateway}"
    if draft.shape.worker is None and draft.shape.controllers > 1:
        yield ""
        yield "kubernetes:"
        yield "  # All machines run workloads."
        yield "  schedule_on_controllers: true"
    yield ""
    yield from paragraph(
        "Virtual addresses: the Kubernetes API, the internal gateway, DNS for the domain."
    )
    yield f"cluster_api_addr: {network.api}"
    yield f"cluster_gateway_addr: {network.services}"
    yield f"cluster_dns_gateway_addr: {network.names}"


def _proxmox(draft: Draft, connection: ApiConnection) -> Iterator[str]:
    yield "# Proxmox VE."
    yield f"proxmox_endpoint: {format_scalar(connection.url)}"
    yield from paragraph(connection.token_why)
    yield f"proxmox_token_id: {format_scalar(connection.token_id)}"
    if connection.token_is_given:
        yield "proxmox_token_secret: ${PROXMOX_TOKEN_SECRET}"
    yield "proxmox:"
    yield f'  version: "{draft.observed.version.minor_text}"'
    yield from _endpoints(connection)
    yield from _trust(connection)
    storages = draft.storages
    yield from paragraph(f"Images are downloaded to this storage: {storages.images_why}.", "  ")
    yield f"  image_storage: {format_scalar(storages.images)}"
    yield f"  storages: [{', '.join(format_scalar(storage) for storage in storages.names)}]"
    yield f"  bridges: [{format_scalar(draft.network.bridge)}]"
    yield from paragraph(
        f"Resources of the hosts. Reserved are {HOST_RESERVE} MiB for the host itself, and what"
        " existing guests are configured with.",
        "  ",
    )
    yield "  hosts:"
    for host in draft.hosts:
        limits = f"cores: {host.cores}, memory: {host.memory}"
        reserve = min(HOST_RESERVE + host.promised, host.memory)
        yield f"    {format_scalar(host.name)}: {{{limits}, reserve_memory: {reserve}}}"


def _endpoints(connection: ApiConnection) -> Iterator[str]:
    for address, why in connection.silent:
        yield from paragraph(f"{address} is not an endpoint: {why}.", "  ")
    if connection.others:
        yield "  # The other hosts, used when the first does not answer."
        yield "  endpoints:"
        yield from (f"    - {format_scalar(endpoint)}" for endpoint in connection.others)


def _trust(connection: ApiConnection) -> Iterator[str]:
    if connection.ca is None and connection.fingerprint is None:
        yield from paragraph(connection.trust_why, "  ")
        return
    yield "  tls:"
    yield from paragraph(connection.trust_why, "    ")
    if connection.ca is not None:
        yield f"    ca_file: {CA_FILE}"
    else:
        yield f"    fingerprint: {format_scalar(connection.fingerprint or '')}"
