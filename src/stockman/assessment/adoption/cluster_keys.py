"""What a drive of Proxmox VE tells a machine of its network, below its own configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Network

from stockman.assessment.adoption import machine_values as read
from stockman.assessment.adoption.cluster import MatchedMachine, RunningCluster, RunningMachine
from stockman.assessment.adoption.components import component_keys
from stockman.assessment.adoption.hardware import Keys
from stockman.model.proxmox_values import parse_properties
from stockman.model.record import record
from stockman.model.version import Version
from stockman.planning.fact import Fact
from stockman.planning.starter.observed import CA_FILE, ApiConnection
from stockman.steps.vm.disks import drives
from stockman.steps.vm.values import key_family


@record
class CloudInitSettings:
    """What a machine is told; nothing where it has no such drive."""

    is_static: bool = False
    """Whether it is told the address that it has."""
    gateway: str = ""
    """Empty: none."""
    name_servers: tuple[str, ...] = ()


def has_cloud_init(one: MatchedMachine) -> bool:
    """Whether there is a drive at all."""
    return any(drive.is_cloud_init for drive in drives(one.config).values())


def read_cloud_init(one: MatchedMachine) -> CloudInitSettings:
    """What the VM tells its machine."""
    if not has_cloud_init(one):
        return CloudInitSettings()
    own = str(one.machine.address)
    servers = tuple(one.config.get("nameserver").split())
    for key, value in one.config.values.items():
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
    """Comments, each line with its newline."""
    if not invented:
        return _LINES
    return _LINES + _INVENTED + "".join(f"#   {one}\n" for one in invented)


_DOMAIN = re.compile(r"(?=.*[a-z])[a-z0-9-]+(\.[a-z0-9-]+)+")
_REPOSITORY = "https://github.com/example/{name}"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_REGION = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]")
_SECRET = "${PROXMOX_TOKEN_SECRET}"
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


@record
class ClusterKeys:
    """Keys, and what had to be invented because no system knows it."""

    keys: Keys
    invented: tuple[str, ...] = ()


def region_of(sight_region: str, cluster_name: str) -> str:
    """The region of nodes: as they are labelled, or else the Proxmox cluster's own name."""
    for name in (sight_region, cluster_name):
        if _REGION.fullmatch(name):
            return name
    return "pve"


def cluster_keys(
    sight: RunningCluster, found: tuple[MatchedMachine, ...], reached: ApiConnection
) -> ClusterKeys:
    """Everything that stands in cluster.yaml, but contract and patches."""
    machines = tuple(one.machine for one in found)
    first = machines[0]
    network = first.interface.network
    invented: list[str] = []
    name = read.first_value(first, "cluster.clusterName", "KubeClusterConfig: clusterName")
    api = _api(machines)
    keys: Keys = {
        "cluster": {"name": name if _NAME.fullmatch(name) else "kubernetes"},
        "network": _network(found, network),
        "kubernetes": _kubernetes(sight, machines, api),
        "gateways": _gateways(sight, machines, network, api, invented),
        "repository": _repository(sight, name, invented),
        "dns": {"provider": "none"},
        "talos": _talos(sight, machines),
        "proxmox": _proxmox(sight, reached),
        "components": component_keys(
            sight.kubernetes, several=len(machines) > 1, follows=bool(sight.follows.url)
        ),
    }
    return ClusterKeys(
        keys={key: value for key, value in keys.items() if value}, invented=tuple(invented)
    )


def _network(found: tuple[MatchedMachine, ...], network: IPv4Network) -> Keys:
    machines = [one.machine for one in found]
    told = [read_cloud_init(one) for one in found]
    keys: Keys = {"node_cidr": str(network)}
    gateways = {read.gateway(one, network) for one in machines} | {one.gateway for one in told}
    if len(gateways - {""}) == 1:
        keys["default_gateway"] = (gateways - {""}).pop()
    if not any(one.is_static for one in told) and not any(map(read.is_static, machines)):
        keys["addressing"] = "dhcp"
    servers = read.common_value(map(read.name_servers, machines)) or read.common_value(
        list(one.name_servers) for one in told
    )
    if all(read.is_address(one) for one in servers) and (
        servers or any(map(has_cloud_init, found))
    ):
        # Nothing is something here: a VM that is told no name servers is not to be told any.
        keys["dns_servers"] = servers
    clocks = read.common_value(
        read.list_values(one, "TimeSyncConfig: ntp.servers")
        or read.list_values(one, "machine.time.servers")
        for one in machines
    )
    return keys | ({"ntp_servers": clocks} if clocks else {})


def _api(machines: Iterable[RunningMachine]) -> str:
    """The address of the API: that of the endpoint, the shared one, or the first controller's."""
    controllers = [one for one in machines if one.is_controller]
    network = controllers[0].interface.network
    found = [read.api_host(controllers[0]), read.shared_address(controllers[0])]
    inside = (one for one in found if read.is_inside(one, network))
    return next(inside, str(controllers[0].address))


def _kubernetes(sight: RunningCluster, machines: tuple[RunningMachine, ...], api: str) -> Keys:
    first = next(one for one in machines if one.is_controller)
    image = read.first_value(first, "machine.kubelet.image", "KubeletConfig: image")
    tag = image.partition("@")[0].rpartition(":")[2] or (sight.kubernetes.version or "")
    names = _names(machines, api)
    keys: Keys = {
        "api": {"addr": api, **_endpoint(first, api), **({"tls_sans": names} if names else {})}
    }
    if tag:
        keys["version"] = str(Version.parse(tag))
    for key, path in (("pod_cidr", "podSubnets"), ("svc_cidr", "serviceSubnets")):
        old = read.list_values(first, f"cluster.network.{path}")
        networks = old or read.list_values(first, f"KubeNetworkConfig: {path}")
        if networks and read.is_network(networks[0]):
            keys[key] = networks[0]
    keys["schedule_on_controllers"] = _schedules_workloads(first)
    return keys


def _endpoint(first: RunningMachine, api: str) -> Keys:
    found = read.endpoint(first)
    return {"endpoint": found} if found and found != f"https://{api}:6443" else {}


def _schedules_workloads(first: RunningMachine) -> bool:
    said = read.first_value(first, "cluster.allowSchedulingOnControlPlanes")
    if said or "KubeNodeConfig" not in " ".join(first.values.values):
        return said == "True"
    return f"KubeNodeConfig: taints.{_CONTROL_PLANE}" not in first.values.values


def _names(machines: Iterable[RunningMachine], api: str) -> list[str]:
    """Domain names that every machine and every API has."""
    lists = []
    for one in machines:
        lists.append(read.list_values(one, "machine.certSANs"))
        if one.is_controller:
            old = read.list_values(one, "cluster.apiServer.certSANs")
            lists.append(old or read.list_values(one, "KubeAPIServerConfig: certExtraSANs"))
    return [
        name
        for name in dict.fromkeys(lists[0] if lists else ())
        if name != api and _DOMAIN.fullmatch(name) and all(name in one for one in lists)
    ]


def _gateways(
    sight: RunningCluster,
    machines: tuple[RunningMachine, ...],
    network: IPv4Network,
    api: str,
    invented: list[str],
) -> Keys:
    found: Keys = dict(sight.follows.addresses)
    taken = {api, *map(str, found.values()), *(str(one.address) for one in machines)}
    spare = (
        text
        for number in range(2, min(network.num_addresses - 2, 1024))
        if (text := str(network[-number])) not in taken
    )
    for key in ("internal", "dns"):
        if key not in found:
            found[key] = next(spare)
            invented.append(f"gateways.{key}")
    return {key: found[key] for key in ("internal", "dns", "external") if key in found}


def _repository(sight: RunningCluster, name: str, invented: list[str]) -> Keys:
    follows = sight.follows
    if not follows.url:
        invented.append("repository.url")
        return {"url": _REPOSITORY.format(name=name or "cluster")}
    branch: Keys = {"branch": follows.branch} if follows.branch else {}
    return {"url": follows.url, **branch}


def _talos(sight: RunningCluster, machines: tuple[RunningMachine, ...]) -> Keys:
    keys: Keys = {"version": str(sight.version)}
    keys["platform"] = "nocloud" if machines[0].platform == "nocloud" else "metal"
    schematics = {one.schematic for one in machines}
    if len(schematics) == 1 and "" not in schematics:
        keys["schematic_id"] = schematics.pop()
    return keys


def _proxmox(sight: RunningCluster, reached: ApiConnection) -> Keys:
    keys: Keys = {
        "region": sight.proxmox.name,
        "endpoint": reached.url,
        "endpoints": list(reached.others),
        "token_id": reached.token_id,
        "token_secret": _SECRET if reached.token_is_given else "",
        "tls": _tls(reached),
        "image_storage": _image_storage(sight),
    }
    return {key: value for key, value in keys.items() if value}


def _tls(reached: ApiConnection) -> Keys:
    if reached.ca is not None:
        return {"ca_file": CA_FILE}
    return {"fingerprint": reached.fingerprint} if reached.fingerprint is not None else {}


def _image_storage(sight: RunningCluster) -> str:
    """A storage that takes images, one that all hosts share first. Empty: there is none."""
    resources = sight.proxmox.resources
    storages = resources.value.storages if isinstance(resources, Fact) else ()
    fit = [one for one in storages if "import" in one.content]
    return min(((not one.shared, str(one.storage)) for one in fit), default=(False, ""))[1]
