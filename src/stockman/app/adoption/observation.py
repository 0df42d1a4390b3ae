"""Observe a running cluster that is to be adopted, without changing it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv4Interface

from stockman.assessment.adoption import problems as trouble
from stockman.assessment.adoption.cluster import GitOpsSource, RunningCluster, RunningMachine
from stockman.engine.observe.kubernetes import KubernetesQuery, observe_kubernetes
from stockman.engine.observe.proxmox import observe_proxmox
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import SECRETS, Object, ObjectRef, ResourceKind
from stockman.model.compatibility import talos_line
from stockman.model.errors import Denied, NotFound, Refused, StockmanError, Unsupported
from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.planning.observed.kubernetes import ObservedKubernetes
from stockman.planning.observed.proxmox import ProxmoxQuery
from stockman.ports.system import Timekeeper
from stockman.proxmox.client import ProxmoxClient
from stockman.steps.kubernetes.objects import (
    FLUX_INSTANCES,
    GIT_REPOSITORIES,
    HELM_RELEASES,
    object_name,
    text_at,
)
from stockman.talos.api.client import TalosClient
from stockman.talos.documents import as_mapping
from stockman.talos.machine.masking import configuration_values
from stockman.talos.records.machines import Link, LinkAddress, network_cards

_SERVICES = ResourceKind(api_version="v1", name="Service", plural="services")
_GATEWAYS = ResourceKind(
    api_version="gateway.networking.k8s.io/v1", name="Gateway", plural="gateways"
)
LOAD_BALANCER_POOLS = ResourceKind(
    api_version="cilium.io/v2",
    name="CiliumLoadBalancerIPPool",
    plural="ciliumloadbalancerippools",
    is_namespaced=False,
)
_ADDRESSES = "lbipam.cilium.io/ips"
_KEYS = {
    "envoy-internal": "internal",
    "internal": "internal",
    "envoy-external": "external",
    "external": "external",
    "k8s-gateway": "dns",
}
"""Names of gateways in clusters of the catalog and of supported templates."""
_FLUX = "flux-system"
_SECRETS = (
    ("age.key", "sops-age", "age.agekey"),
    ("github-deploy.key", "github-deploy-key", "identity"),
    ("github-deploy.key", "deploy-key", "identity"),
    ("github-deploy.key", "flux-system", "identity"),
    ("github-push-token.txt", "flux-webhook-token", "token"),
    ("github-push-token.txt", "github-webhook-token-secret", "token"),
)
"""Key file, and the name and key of the Secret with the same content."""


async def observe_gitops(kubernetes: KubernetesClient) -> GitOpsSource:
    """Return the followed repository and the gateways; empty without Flux and gateways."""
    instances = await _list_objects(kubernetes, FLUX_INSTANCES)
    repositories = await _list_objects(kubernetes, GIT_REPOSITORIES)
    gateways = await _list_objects(kubernetes, _GATEWAYS)
    services = await _list_objects(kubernetes, _SERVICES)
    url, branch = _repository(instances, repositories)
    return GitOpsSource(
        url=url,
        branch=branch,
        addresses=_service_addresses((*gateways, *services)),
        pools=_pool_ranges(await _list_objects(kubernetes, LOAD_BALANCER_POOLS)),
        values={
            object_name(release): as_mapping(as_mapping(release.get("spec")).get("values"))
            for release in await _list_objects(kubernetes, HELM_RELEASES)
        },
        keys=await _keys(kubernetes),
    )


async def _keys(kubernetes: KubernetesClient) -> dict[str, Secret]:
    """Return the age identity, deploy key and webhook token of Flux.

    With new ones, encrypted files would be lost and the Git server would need new settings.
    """
    keys: dict[str, Secret] = {}
    for file, name, key in _SECRETS:
        ref = ObjectRef(kind=SECRETS, name=name, namespace=_FLUX)
        try:
            packed = text_at(await kubernetes.get(ref), "data", key)
        except (NotFound, Denied):
            continue
        try:
            plain = base64.b64decode(packed, validate=True).decode("ascii")
        except ValueError:
            continue
        if plain:
            keys.setdefault(file, Secret(plain, resolved=True))
    return keys


async def _list_objects(kubernetes: KubernetesClient, kind: ResourceKind) -> tuple[Object, ...]:
    try:
        return (await kubernetes.objects(kind)).items
    except (NotFound, Unsupported):
        return ()


def _repository(instances: Iterable[Object], repositories: Iterable[Object]) -> tuple[str, str]:
    for instance in instances:
        if url := text_at(instance, "spec", "sync", "url"):
            return url, _branch(text_at(instance, "spec", "sync", "ref"))
    for instance in repositories:
        if object_name(instance) == _FLUX:
            return text_at(instance, "spec", "url"), text_at(instance, "spec", "ref", "branch")
    return "", ""


def _pool_ranges(pools: Iterable[Object]) -> tuple[str, ...]:
    """Return the blocks of address pools, as the configuration writes them."""
    ranges: list[str] = []
    for pool in pools:
        blocks = as_mapping(pool.get("spec")).get("blocks")
        for block in map(as_mapping, blocks if isinstance(blocks, list) else ()):
            start, stop = str(block.get("start", "")), str(block.get("stop", ""))
            same = stop in ("", start)
            ranges.append(str(block.get("cidr") or (start if same else f"{start}-{stop}")))
    return tuple(dict.fromkeys(filter(None, ranges)))


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _service_addresses(objects: Iterable[Object]) -> dict[str, str]:
    addresses: dict[str, str] = {}
    for service in objects:
        key = _KEYS.get(object_name(service), "")
        address = text_at(service, "spec", "infrastructure", "annotations", _ADDRESSES) or text_at(
            service, "metadata", "annotations", _ADDRESSES
        )
        if key and address:
            addresses.setdefault(key, address.partition(",")[0].strip())
    return addresses


_AT_ONCE = 16


@record
class AdoptionClients:
    """Clients of the systems to observe."""

    proxmox: ProxmoxClient
    talos: TalosClient
    kubernetes: KubernetesClient
    clock: Timekeeper
    endpoints: tuple[str, ...]
    """Machines named in the talosconfig."""
    authority: str = ""
    """CA certificate as PEM text. Empty: the kubeconfig refers to a file, or has none."""


async def observe_cluster(clients: AdoptionClients, region: str) -> RunningCluster:
    """Observe everything that the files depend on; refuse if something required is missing."""
    kubernetes = await observe_kubernetes(clients.kubernetes, clients.clock, KubernetesQuery())
    if kubernetes.nodes is None:
        raise Refused(trouble.no_machine("Kubernetes", kubernetes.unknown.get("nodes", "")))
    proxmox = await observe_proxmox(
        region, clients.proxmox, clients.clock, ProxmoxQuery(every_guest=True)
    )
    for unknown in proxmox.unknown_basics():
        raise Refused(unknown.problem)
    addresses = await _addresses(clients, kubernetes)
    room = asyncio.Semaphore(_AT_ONCE)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_observe_in_turn(clients.talos, room, name, address))
            for name, address in addresses.items()
        ]
    results = [task.result() for task in tasks]
    for machine in results:
        if isinstance(machine, StockmanError):
            raise machine
    machines = [machine for machine in results if isinstance(machine, RunningMachine)]
    check_versions(machine.version for machine in machines)
    return RunningCluster(
        proxmox=proxmox,
        machines=tuple(sorted(machines, key=_order)),
        kubernetes=kubernetes,
        gitops=await observe_gitops(clients.kubernetes),
        authority=clients.authority,
    )


def check_versions(versions: Iterable[Version]) -> None:
    """Refuse machines with different or unknown Talos versions."""
    different = sorted(set(versions))
    if len(different) > 1:
        raise Refused(trouble.several_versions([version.tagged for version in different]))
    for version in different:
        if talos_line(version) is None:
            because = "its machine configurations may have fields that stockman cannot write"
            raise Refused(trouble.unknown_version(str(version), because))


async def _addresses(
    clients: AdoptionClients, observed: ObservedKubernetes
) -> dict[str, MachineAddress]:
    """Return addresses by machine name, from Kubernetes and from Talos discovery."""
    addresses = {
        node.name: MachineAddress(address)
        for node in observed.nodes or ()
        for address in node.addresses[:1]
    }
    known, heard = set(addresses), set[str]()
    why = "the talosconfig names no endpoint"
    for endpoint in clients.endpoints:
        address = MachineAddress(endpoint.partition(":")[0])
        try:
            for neighbour in await clients.talos.neighbours(address):
                heard.add(neighbour.hostname)
                own = next(filter(_is_ipv4, neighbour.addresses), "")
                if own:
                    addresses.setdefault(neighbour.hostname, MachineAddress(own))
            name = await clients.talos.hostname(address)
        except StockmanError as error:
            why = f"{error.problem.what}: {error.problem.why}"
            continue
        heard.add(name)
        if name not in addresses and _is_ipv4(str(address)):
            addresses[name] = address
    if not heard:
        raise Refused(trouble.no_machine("talosconfig", why))
    if known and not known & heard:
        raise Refused(trouble.other_cluster(known, heard))
    return addresses


async def _observe_in_turn(
    talos: TalosClient, room: asyncio.Semaphore, name: str, address: MachineAddress
) -> RunningMachine | StockmanError:
    try:
        async with room:
            return await _observe_machine(talos, address)
    except StockmanError as error:
        if error.problem.code == trouble.VERSION:
            return error
        why = f"{error.problem.what}: {error.problem.why}"
        return NotFound(trouble.machine_unreachable(name, str(address), why))


async def _observe_machine(talos: TalosClient, address: MachineAddress) -> RunningMachine:
    version = await talos.version(address)
    check_versions((version.parsed,))
    configuration = await talos.machine_configuration(address)
    links, addresses = await talos.links(address), await talos.addresses(address)
    own = next(
        (candidate for candidate in addresses if candidate.address.partition("/")[0] == address),
        None,
    )
    return RunningMachine(
        hostname=await talos.hostname(address),
        address=address,
        interface=IPv4Interface(own.address if own is not None else str(address)),
        version=version.parsed,
        platform=version.platform,
        uuid=await talos.system_uuid(address),
        macs=tuple(candidate.mac.lower() for candidate in network_cards(links)),
        mac=_mac(links, own),
        schematic=str(await talos.schematic(address) or ""),
        system_disk=await talos.system_disk(address) or "",
        configuration=configuration,
        values=configuration_values(configuration, version.parsed.minor_text),
    )


def _mac(links: Iterable[Link], own: LinkAddress | None) -> str:
    """Return the MAC address of the card with the address (VLANs use their parent's), or of the
    only card."""
    known = {link.name: link.mac.lower() for link in links}
    real = [network_card.mac.lower() for network_card in network_cards(links)]
    mac = known.get(own.link, "") if own is not None else ""
    if mac in real:
        return mac
    return real[0] if len(real) == 1 else ""


def _order(machine: RunningMachine) -> tuple[bool, int]:
    return not machine.is_controller, int(IPv4Address(str(machine.address)))


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True
