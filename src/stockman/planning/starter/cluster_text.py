"""`cluster.yaml` for a Proxmox cluster that was looked at."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.config.presets.answers import UNPUBLISHED
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


def cluster_text(draft: Draft, reached: ApiConnection, talos: Version, name: str) -> str:
    """The file with the defaults of everything that is not about Proxmox."""
    return "\n".join(_lines(draft, reached, talos, name)) + "\n"


def _lines(draft: Draft, reached: ApiConnection, talos: Version, name: str) -> Iterator[str]:
    yield from _head(draft, reached)
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
    yield from _proxmox(draft, reached)


def _head(draft: Draft, reached: ApiConnection) -> Iterator[str]:
    found = draft.found
    whose = f"the Proxmox cluster {found.cluster}" if found.cluster else "a single Proxmox host"
    yield "# What the cluster should be. Its machines stand in nodes.yaml."
    yield "#"
    yield from paragraph(
        f"Made for {whose} as it was found at {reached.url}; nothing was changed there."
        " `stockman explain KEY` tells what a key means and which others there are."
    )
    yield "#"
    yield "# Found:"
    yield from listing(_cluster_comment(draft))
    yield "#"
    yield "# Chosen:"
    yield from listing(_chosen_comment(draft))
    yield "#"
    yield "# Proxmox VE does not know these, and so they are invented. Check first:"
    yield from listing(_placeholder_comment(draft))
    yield "#"
    yield "# No secret is written here: ${NAME} is read from the environment when it is needed."


def _cluster_comment(draft: Draft) -> Iterator[tuple[str, str]]:
    yield "version", f"Proxmox VE {draft.found.version}"
    for host in draft.hosts:
        yield f"host {host.name}", _host(host)
    for name, why in draft.away:
        yield f"host {name}", f"left out: {why}"
    yield from _storages(draft.hosts)
    yield from _bridges(draft.hosts)
    for clause in draft.found.unseen:
        yield "not seen", clause


def _host(host: StarterHost) -> str:
    return (
        f"{host.cores} CPU threads, {host.memory // 1024} GiB of memory,"
        f" {free_memory(host) // 1024} GiB of it not assigned to guests"
    )


def _storages(hosts: tuple[StarterHost, ...]) -> Iterator[tuple[str, str]]:
    names = dict.fromkeys(one.name for host in hosts for one in host.storages)
    for name in names:
        rows = {str(host.name): one for host in hosts for one in host.storages if one.name == name}
        yield f"storage {name}", _storage(rows, len(hosts))


def _storage(rows: dict[str, StarterStorage], hosts: int) -> str:
    first = next(iter(rows.values()))
    content = ", ".join(sorted(first.content)) or "nothing"
    where = "shared" if first.shared else _list_items(hosts)
    if len(rows) < hosts:
        where = f"on {', '.join(rows)} only"
    told = [one.free for one in rows.values() if one.free is not None]
    free = f", {min(told) // GIB} GiB free" if told else ""
    down = [name for name, one in rows.items() if not one.available]
    away = f", not available on {', '.join(down)}" if down else ""
    return f"{first.kind}, {where}{free}, for {content}{away}"


def _bridges(hosts: tuple[StarterHost, ...]) -> Iterator[tuple[str, str]]:
    labels = dict.fromkeys(one.label for host in hosts for one in host.bridges)
    for name in labels:
        rows = {str(host.name): one for host in hosts for one in host.bridges if one.label == name}
        yield f"bridge {name}", _bridge(rows, len(hosts))


def _bridge(rows: dict[str, StarterBridge], hosts: int) -> str:
    where = _list_items(hosts) if len(rows) == hosts else f"on {', '.join(rows)} only"
    networks = dict.fromkeys(str(one.network) for one in rows.values() if one.network)
    leads = f", in {', '.join(networks)}" if networks else ", no host has an address on it"
    aware = "VLAN aware" if all(one.vlan_aware for one in rows.values()) else "not VLAN aware"
    down = [name for name, one in rows.items() if not one.active]
    away = f", down on {', '.join(down)}" if down else ""
    return f"{where}, {aware}{leads}{away}"


def _list_items(hosts: int) -> str:
    return "on each host" if hosts > 1 else "on the host"


def disk_storages(draft: Draft) -> str:
    """Names of the storages that hold disks."""
    return ", ".join(sorted(set(draft.storages.disks.values())))


def _chosen_comment(draft: Draft) -> Iterator[tuple[str, str]]:
    yield f"preset {draft.shape.preset}", draft.shape_why
    yield f"disks on {disk_storages(draft)}", draft.storages.disks_why
    yield f"images on {draft.storages.images}", draft.storages.images_why
    tagged = f" VLAN {draft.network.vlan}" if draft.network.vlan is not None else ""
    yield f"bridge {draft.network.bridge}{tagged}", draft.network.bridge_why
    yield f"network {draft.network.network}", draft.network.network_why
    yield f"router {draft.network.gateway}", draft.network.gateway_why


def _placeholder_comment(draft: Draft) -> Iterator[tuple[str, str]]:
    network = draft.network
    yield (
        f"{network.api} to {network.names}",
        "that nobody else has these addresses, and that no DHCP range contains them",
    )
    yield "repository_name", "the Git repository that Flux follows"


def _versions(talos: Version) -> Iterator[str]:
    yield from paragraph(
        "Renovate may raise versions. talos_contract stays: it is the style of the machine"
        " configurations, and only a plan changes it."
    )
    line = talos_line(talos)
    yield f"talos_version: {format_scalar(talos.bare)}"
    yield f'talos_contract: "{talos.minor_text}"'
    if line is not None:
        yield f"kubernetes_version: {format_scalar(line.kubernetes_default.bare)}"
    yield ""
    yield "talos:"
    yield "  # Part of the boot image, beside Talos itself."
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
        yield "  # All machines take work."
        yield "  schedule_on_controllers: true"
    yield ""
    yield from paragraph(
        "Virtual addresses: the Kubernetes API, services for the local network, names of the"
        " domain."
    )
    yield f"cluster_api_addr: {network.api}"
    yield f"cluster_gateway_addr: {network.services}"
    yield f"cluster_dns_gateway_addr: {network.names}"


def _proxmox(draft: Draft, reached: ApiConnection) -> Iterator[str]:
    yield "# Proxmox VE."
    yield f"proxmox_endpoint: {format_scalar(reached.url)}"
    yield from paragraph(reached.token_why)
    yield f"proxmox_token_id: {format_scalar(reached.token_id)}"
    if reached.token_is_given:
        yield "proxmox_token_secret: ${PROXMOX_TOKEN_SECRET}"
    yield "proxmox:"
    yield f'  version: "{draft.found.version.minor_text}"'
    yield from _endpoints(reached)
    yield from _trust(reached)
    storages = draft.storages
    yield from paragraph(f"Images are downloaded to this storage: {storages.images_why}.", "  ")
    yield f"  image_storage: {format_scalar(storages.images)}"
    yield f"  storages: [{', '.join(format_scalar(one) for one in storages.names)}]"
    yield f"  bridges: [{format_scalar(draft.network.bridge)}]"
    yield from paragraph(
        f"What a host has. Kept back are {HOST_RESERVE} MiB for the host itself, and what guests"
        " that are there already were promised.",
        "  ",
    )
    yield "  hosts:"
    for host in draft.hosts:
        limits = f"cores: {host.cores}, memory: {host.memory}"
        reserve = min(HOST_RESERVE + host.promised, host.memory)
        yield f"    {format_scalar(host.name)}: {{{limits}, reserve_memory: {reserve}}}"


def _endpoints(reached: ApiConnection) -> Iterator[str]:
    for address, why in reached.silent:
        yield from paragraph(f"{address} is not among the endpoints: {why}.", "  ")
    if reached.others:
        yield "  # The other hosts, asked when the first does not answer."
        yield "  endpoints:"
        yield from (f"    - {format_scalar(one)}" for one in reached.others)


def _trust(reached: ApiConnection) -> Iterator[str]:
    if reached.ca is None and reached.fingerprint is None:
        yield from paragraph(reached.trust_why, "  ")
        return
    yield "  tls:"
    yield from paragraph(reached.trust_why, "    ")
    if reached.ca is not None:
        yield f"    ca_file: {CA_FILE}"
    else:
        yield f"    fingerprint: {format_scalar(reached.fingerprint or '')}"
