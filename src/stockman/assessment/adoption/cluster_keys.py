"""Keys of cluster.yaml, derived from a running cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError
from urllib.parse import urlsplit

from stockman.assessment.adoption.cluster import MatchedMachine, RunningCluster, RunningMachine
from stockman.assessment.adoption.hardware import Keys
from stockman.model.component import ComponentFacts, all_component_facts
from stockman.model.proxmox_values import parse_properties
from stockman.model.record import record
from stockman.model.version import Version
from stockman.planning.fact import Fact
from stockman.planning.observed.kubernetes import ObservedKubernetes
from stockman.planning.starter.observed import CA_FILE, ApiConnection
from stockman.steps.vm.disks import drives
from stockman.steps.vm.values import key_family

_GATEWAY = re.compile(r"(?P<route>.*routes\[\d+\]\.)gateway")
_ADDRESS = re.compile(r"(.*: addresses\[\d+\]\.address|machine\.network\..*addresses\[\d+\])")
_VIP = re.compile(r"Layer2VIPConfig (?P<address>[0-9.]+): link|machine\.network\..*\.vip\.ip")
_MTU = re.compile(r"(LinkConfig|VLANConfig) \S+: mtu|machine\.network\.interfaces\[0\]\.mtu")


def first_value(machine: RunningMachine, *paths: str) -> str:
    """Return the first of several values that is set. Empty: none is set."""
    known = machine.values.values
    return next((str(known[path]) for path in paths if path in known), "")


def list_values(machine: RunningMachine, path: str, field: str = "") -> list[str]:
    """Return the items of a list, or one field of each item."""
    form = re.compile(rf"{re.escape(path)}\[[^\]]*\]{re.escape(field)}")
    return [str(value_) for name, value_ in machine.values.values.items() if form.fullmatch(name)]


def mapping_values(machine: RunningMachine, *paths: str) -> dict[str, str]:
    """Return the entries of a mapping of strings, whose keys may contain dots."""
    for path in paths:
        prefix = f"{path}."
        entries = {
            name.removeprefix(prefix): str(entry)
            for name, entry in machine.values.values.items()
            if name.startswith(prefix)
        }
        if entries:
            return entries
    return {}


def common_value(lists: Iterable[list[str]]) -> list[str]:
    """Return the value that all machines share. Empty: they differ."""
    known = list(lists)
    return known[0] if known and all(values == known[0] for values in known) else []


def name_servers(machine: RunningMachine) -> list[str]:
    """Return the name servers in the machine configuration."""
    new = list_values(machine, "ResolverConfig: nameservers", ".address")
    return new or list_values(machine, "machine.network.nameservers")


def api_host(machine: RunningMachine) -> str:
    """Return the host of the cluster endpoint. Empty: it is not set."""
    return urlsplit(endpoint(machine)).hostname or ""


def endpoint(machine: RunningMachine) -> str:
    """Return the URL of the cluster endpoint. Empty: it is not set."""
    return first_value(machine, "cluster.controlPlane.endpoint", "KubeClusterConfig: endpoint")


def shared_address(machine: RunningMachine) -> str:
    """Return the virtual IP of the controllers. Empty: there is none."""
    for path, address_ in machine.values.values.items():
        if match := _VIP.fullmatch(path):
            return match["address"] or str(address_)
    return ""


def gateway(machine: RunningMachine, network: IPv4Network) -> str:
    """Return the gateway of the default route. Empty: it is not configured."""
    known = machine.values.values
    for path, route_value in known.items():
        if (match := _GATEWAY.fullmatch(path)) is None:
            continue
        route = match["route"]
        target = known.get(f"{route}network", known.get(f"{route}destination", "0.0.0.0/0"))
        if target == "0.0.0.0/0" and is_inside(str(route_value), network):
            return str(route_value)
    return ""


def is_static(machine: RunningMachine) -> bool:
    """Whether the machine's address is part of its configuration."""
    own = str(machine.address)
    return any(
        str(value_).partition("/")[0] == own
        for path, value_ in machine.values.values.items()
        if _ADDRESS.fullmatch(path)
    )


def mtu(machine: RunningMachine) -> int | None:
    """Return the MTU of the machine's link. None: it is not configured."""
    mtus = (text for path, text in machine.values.values.items() if _MTU.fullmatch(path))
    return next((text for text in mtus if isinstance(text, int)), None)


def is_inside(text: str, network: IPv4Network) -> bool:
    """Whether a text is an address inside a network."""
    return is_address(text) and IPv4Address(text) in network


def is_address(text: str) -> bool:
    """Whether a text is an IPv4 address."""
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def is_network(text: str) -> bool:
    """Whether a text is an IPv4 network."""
    try:
        IPv4Network(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        return False
    return True


@record
class CloudInitSettings:
    """Network settings on a VM's cloud-init drive; empty without such a drive."""

    is_static: bool = False
    """Whether the drive sets the machine's current address."""
    gateway: str = ""
    """Empty: no gateway is set."""
    name_servers: tuple[str, ...] = ()


def has_cloud_init(machine: MatchedMachine) -> bool:
    """Whether the VM has a cloud-init drive."""
    return any(drive.is_cloud_init for drive in drives(machine.config).values())


def read_cloud_init(machine: MatchedMachine) -> CloudInitSettings:
    """Return the network settings of a VM's cloud-init drive."""
    if not has_cloud_init(machine):
        return CloudInitSettings()
    own = str(machine.machine.address)
    servers = tuple(machine.config.get("nameserver").split())
    for key, value in machine.config.values.items():
        if key_family(key) == "ipconfig":
            known = parse_properties(value)
            if known.get("ip", "").partition("/")[0] == own:
                return CloudInitSettings(
                    is_static=True, gateway=known.get("gw", ""), name_servers=servers
                )
    return CloudInitSettings(name_servers=servers)


_LINES = """\
# What the cluster should be: taken from the running cluster by `stockman adopt`. Its machines
# stand in nodes.yaml; what no key says of their configurations stands in talos/adopted.
# `stockman explain KEY` tells what a key means.
"""
_INVENTED = """\
#
# Not known of the cluster, and so invented. Check first:
"""


def header(invented: tuple[str, ...]) -> str:
    """Return the comment lines at the top of cluster.yaml, each with its newline."""
    if not invented:
        return _LINES
    return _LINES + _INVENTED + "".join(f"#   {name}\n" for name in invented)


_DOMAIN = re.compile(r"(?=.*[a-z])[a-z0-9-]+(\.[a-z0-9-]+)+")
_REPOSITORY = "https://github.com/example/{name}"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_REGION = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]")
_SECRET = "${PROXMOX_TOKEN_SECRET}"
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


@record
class ClusterKeys:
    """Keys of cluster.yaml, and the names of those whose values are placeholders."""

    keys: Keys
    placeholders: tuple[str, ...] = ()


def region_of(sight_region: str, cluster_name: str) -> str:
    """Return the region of the nodes: their label, or else the Proxmox cluster's name."""
    for name in (sight_region, cluster_name):
        if _REGION.fullmatch(name):
            return name
    return "pve"


def cluster_keys(
    cluster: RunningCluster, matched: tuple[MatchedMachine, ...], reached: ApiConnection
) -> ClusterKeys:
    """Return every key of cluster.yaml except the contract and patches."""
    machines = tuple(machine.machine for machine in matched)
    first = machines[0]
    network = first.interface.network
    invented: list[str] = []
    name = first_value(first, "cluster.clusterName", "KubeClusterConfig: clusterName")
    api = _api(machines)
    keys: Keys = {
        "cluster": {"name": name if _NAME.fullmatch(name) else "kubernetes"},
        "network": _network(matched, network),
        "kubernetes": _kubernetes(cluster, machines, api),
        "gateways": _gateways(cluster, machines, network, api, invented),
        "cilium": _cilium(cluster),
        "repository": _repository(cluster, name, invented),
        "dns": {"provider": "none"},
        "talos": _talos(cluster, machines),
        "proxmox": _proxmox(cluster, reached),
        "components": component_keys(
            cluster.kubernetes, several=len(machines) > 1, follows=bool(cluster.gitops.url)
        ),
    }
    return ClusterKeys(
        keys={key: value for key, value in keys.items() if value}, placeholders=tuple(invented)
    )


def _network(matched: tuple[MatchedMachine, ...], network: IPv4Network) -> Keys:
    machines = [machine.machine for machine in matched]
    cloud_init = [read_cloud_init(machine) for machine in matched]
    keys: Keys = {"node_cidr": str(network)}
    gateways = {gateway(machine, network) for machine in machines} | {
        machine.gateway for machine in cloud_init
    }
    if len(gateways - {""}) == 1:
        keys["default_gateway"] = (gateways - {""}).pop()
    if not any(machine.is_static for machine in cloud_init) and not any(map(is_static, machines)):
        keys["addressing"] = "dhcp"
    servers = common_value(map(name_servers, machines)) or common_value(
        list(machine.name_servers) for machine in cloud_init
    )
    if all(is_address(server) for server in servers) and (
        servers or any(map(has_cloud_init, matched))
    ):
        # An empty list matters: a VM without name servers must not get any.
        keys["dns_servers"] = servers
    clocks = common_value(
        list_values(machine, "TimeSyncConfig: ntp.servers")
        or list_values(machine, "machine.time.servers")
        for machine in machines
    )
    return keys | ({"ntp_servers": clocks} if clocks else {})


def _api(machines: Iterable[RunningMachine]) -> str:
    """Return the API address: the endpoint's, the shared one, or the first controller's."""
    controllers = [address for address in machines if address.is_controller]
    network = controllers[0].interface.network
    addresses = [api_host(controllers[0]), shared_address(controllers[0])]
    inside = (address for address in addresses if is_inside(address, network))
    return next(inside, str(controllers[0].address))


def _kubernetes(cluster: RunningCluster, machines: tuple[RunningMachine, ...], api: str) -> Keys:
    first = next(machine for machine in machines if machine.is_controller)
    image = first_value(first, "machine.kubelet.image", "KubeletConfig: image")
    tag = image.partition("@")[0].rpartition(":")[2] or (cluster.kubernetes.version or "")
    names = _names(machines, api)
    keys: Keys = {
        "api": {"addr": api, **_endpoint(first, api), **({"tls_sans": names} if names else {})}
    }
    if tag:
        keys["version"] = str(Version.parse(tag))
    for key, path in (("pod_cidr", "podSubnets"), ("svc_cidr", "serviceSubnets")):
        old = list_values(first, f"cluster.network.{path}")
        networks = old or list_values(first, f"KubeNetworkConfig: {path}")
        if networks and is_network(networks[0]):
            keys[key] = networks[0]
    keys["schedule_on_controllers"] = _schedules_workloads(first)
    return keys


def _endpoint(first: RunningMachine, api: str) -> Keys:
    address = endpoint(first)
    return {"endpoint": address} if address and address != f"https://{api}:6443" else {}


def _schedules_workloads(first: RunningMachine) -> bool:
    setting = first_value(first, "cluster.allowSchedulingOnControlPlanes")
    if setting or "KubeNodeConfig" not in " ".join(first.values.values):
        return setting == "True"
    return f"KubeNodeConfig: taints.{_CONTROL_PLANE}" not in first.values.values


def _names(machines: Iterable[RunningMachine], api: str) -> list[str]:
    """Domain names that every machine lists as certificate SAN of the API."""
    lists = []
    for names in machines:
        lists.append(list_values(names, "machine.certSANs"))
        if names.is_controller:
            old = list_values(names, "cluster.apiServer.certSANs")
            lists.append(old or list_values(names, "KubeAPIServerConfig: certExtraSANs"))
    return [
        name
        for name in dict.fromkeys(lists[0] if lists else ())
        if name != api and _DOMAIN.fullmatch(name) and all(name in names for names in lists)
    ]


def _gateways(
    cluster: RunningCluster,
    machines: tuple[RunningMachine, ...],
    network: IPv4Network,
    api: str,
    invented: list[str],
) -> Keys:
    keys: Keys = dict(cluster.gitops.addresses)
    taken = {api, *map(str, keys.values()), *(str(machine.address) for machine in machines)}
    spare = (
        text
        for number in range(2, min(network.num_addresses - 2, 1024))
        if (text := str(network[-number])) not in taken
    )
    for key in ("internal", "dns"):
        if key not in keys:
            keys[key] = next(spare)
            invented.append(f"gateways.{key}")
    return {key: keys[key] for key in ("internal", "dns", "external") if key in keys}


def _cilium(cluster: RunningCluster) -> Keys:
    """Return the addresses for services besides those of the gateways."""
    gateways = set(map(str, cluster.gitops.addresses.values()))
    left = [block for block in cluster.gitops.pools if block.removesuffix("/32") not in gateways]
    return {"loadbalancer_pool": left} if left else {}


def _repository(cluster: RunningCluster, name: str, invented: list[str]) -> Keys:
    follows = cluster.gitops
    if not follows.url:
        invented.append("repository.url")
        return {"url": _REPOSITORY.format(name=name or "cluster")}
    branch: Keys = {"branch": follows.branch} if follows.branch else {}
    return {"url": follows.url, **branch}


def _talos(cluster: RunningCluster, machines: tuple[RunningMachine, ...]) -> Keys:
    keys: Keys = {"version": str(cluster.version)}
    keys["platform"] = "nocloud" if machines[0].platform == "nocloud" else "metal"
    schematics = {machine.schematic for machine in machines}
    if len(schematics) == 1 and "" not in schematics:
        keys["schematic_id"] = schematics.pop()
    return keys


def _proxmox(cluster: RunningCluster, reached: ApiConnection) -> Keys:
    keys: Keys = {
        "region": cluster.proxmox.name,
        "endpoint": reached.url,
        "endpoints": list(reached.others),
        "token_id": reached.token_id,
        "token_secret": _SECRET if reached.token_is_given else "",
        "tls": _tls(reached),
        "image_storage": _image_storage(cluster),
    }
    return {key: value for key, value in keys.items() if value}


def _tls(reached: ApiConnection) -> Keys:
    if reached.ca is not None:
        return {"ca_file": CA_FILE}
    return {"fingerprint": reached.fingerprint} if reached.fingerprint is not None else {}


def _image_storage(cluster: RunningCluster) -> str:
    """Return a storage for images, preferring one shared by all hosts. Empty: there is none."""
    resources = cluster.proxmox.resources
    storages = resources.value.storages if isinstance(resources, Fact) else ()
    fit = [storage for storage in storages if "import" in storage.content]
    return min(
        ((not storage.shared, str(storage.storage)) for storage in fit), default=(False, "")
    )[1]


_USUAL = ("always",)
_FLUX = "flux-instance"
_SEVERAL = "several-nodes"
_DEFINITIONS = {"gateway-api": "gateways.gateway.networking.k8s.io"}
"""Components without a Helm release, and a kind that each of them defines."""


def component_keys(observed: ObservedKubernetes, *, several: bool, follows: bool) -> Keys:
    """Return `enabled: false` for each default component that is not installed.

    `follows`: whether the cluster follows a repository; without one, Flux has nothing to do.
    """
    usual = (*_USUAL, _SEVERAL) if several else _USUAL
    default_components = {
        component.name: component
        for component in all_component_facts()
        if component.condition in usual
    }
    off = {
        name
        for name, component in default_components.items()
        if not _is_installed(component, observed)
    }
    if not follows:
        off.add(_FLUX)
    while True:
        more = {
            name
            for name, component in default_components.items()
            if name not in off and any(need in off for need in component.requires)
        }
        if not more:
            return {name: {"enabled": False} for name in sorted(off)}
        off |= more


def components_to_describe(observed: ObservedKubernetes) -> tuple[str, ...]:
    """Names of installed optional components, which the files must enable explicitly."""
    return tuple(
        component.name
        for component in all_component_facts()
        if component.condition == "asked" and _is_installed(component, observed)
    )


def _is_installed(component: ComponentFacts, observed: ObservedKubernetes) -> bool:
    if component.name in _DEFINITIONS:
        return any(kind.name == _DEFINITIONS[component.name] for kind in observed.definitions or ())
    if any(release.name == component.release for release in observed.releases or ()):
        return True
    return any(
        resource.kind == "HelmRelease" and resource.name == component.release
        for resource in observed.flux or ()
    )
