"""Defaults that follow from other keys: identities, settings of machines, storages and boot
order."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import UUID, uuid5

from stockman.config.components import resolve_components
from stockman.config.language import Configuration, NodeSection, VmSection, proxmox_clusters
from stockman.config.load import LoadedConfig
from stockman.model import compatibility
from stockman.model.desired import (
    Bgp,
    Cilium,
    Cluster,
    Desired,
    Edge,
    Gateways,
    Kubernetes,
    Network,
    Node,
    Repository,
    Role,
    Schematic,
    Talos,
    Vm,
)
from stockman.model.errors import Refused
from stockman.model.git_address import git_host
from stockman.model.guest import Guest
from stockman.model.hardware import DataDisk, Hardware, HighAvailability, Nic
from stockman.model.machine import Expect, MachineSettings
from stockman.model.names import ClassName, Datastore, Mac, NodeName, Region
from stockman.model.origin import Origin, Traced, derivation
from stockman.model.policies import Backup
from stockman.model.problem import Problem
from stockman.model.proxmox import ProxmoxCluster, VmTemplate
from stockman.model.record import require
from stockman.model.version import Version

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_NAMESPACE = UUID("5ea2f6d0-7d3a-5f0e-9a57-3c6c0f5d1b60")
_PREFIX = "bc:24:11"


def machine_uuid(cluster: str, node: str) -> UUID:
    """Return the SMBIOS UUID of a node's VM."""
    return uuid5(_NAMESPACE, f"{cluster}/{node}")


def card_mac(cluster: str, node: str, card: int) -> Mac:
    """Return the MAC address of a network card of a node, with the prefix of Proxmox."""
    digest = hashlib.sha256(f"{cluster}/{node}/{card}".encode()).digest()
    return Mac(":".join([_PREFIX, *(f"{octet:02x}" for octet in digest[:3])]))


H = TypeVar("H", bound=Hardware)

_SYSTEM_DISK = "scsi0"


def complete_hardware(hardware: H, datastore: Datastore) -> H:
    """Return the hardware with storages and boot order filled in from the system disk."""
    beside = derivation("the storage of the system disk")
    origins = dict(hardware.origins)
    efi, tpm, boot = hardware.efi_disk, hardware.tpm, hardware.boot_order
    if efi.datastore is None:
        efi = replace(efi, datastore=datastore, origins={**efi.origins, "datastore": beside})
    if tpm is not None and tpm.datastore is None:
        tpm = replace(tpm, datastore=datastore, origins={**tpm.origins, "datastore": beside})
    if not boot:
        boot = (_SYSTEM_DISK,)
        origins["boot_order"] = derivation("the system disk")
    return replace(hardware, origins=origins, efi_disk=efi, tpm=tpm, boot_order=boot)


TracedT = TypeVar("TracedT", bound=Traced)


def merge_settings(cluster: MachineSettings, node: MachineSettings) -> MachineSettings:
    """Merge settings: lists are appended; named entries and values of the node win."""
    return _merge_records(MachineSettings, cluster, node)


def _merge_records(cls: type[TracedT], lower: TracedT, upper: TracedT) -> TracedT:
    values: dict[str, Any] = {}
    names = [name for name in _field_names(cls) if name != "origins"]
    for name in names:
        below, above = getattr(lower, name), getattr(upper, name)
        if isinstance(below, dict):
            values[name] = {**below, **above}
        elif isinstance(below, tuple):
            values[name] = (*below, *(item for item in above if item not in below))
        elif isinstance(below, Traced) and isinstance(above, Traced):
            values[name] = _merge_records(type(below), below, above)
        else:
            values[name] = above if name in upper.origins else below
    origins = {
        name: origin for name, origin in {**lower.origins, **upper.origins}.items() if name in names
    }
    return cls(origins=origins, **values)


def _dataclass(cls: type[Traced]) -> type[DataclassInstance]:
    return cls


_SCSI_DISK = "/dev/sda"


def resolve_nodes(estate: Configuration) -> tuple[Node, ...]:
    """Return all nodes in their configured order."""
    return tuple(_resolve_node(estate, node) for node in estate.nodes)


def _resolve_node(estate: Configuration, node: NodeSection) -> Node:
    name = require(node.name)
    prefix = require(estate.network.node_cidr).prefixlen
    controller = bool(node.controller)
    origins = dict(node.origins)
    if "controller" in origins:
        origins["role"] = origins["controller"]
    if "class_" in origins:
        origins["node_class"] = origins["class_"]
    origins |= {name: at for name, at in node.talos.origins.items() if name.startswith("patches")}
    if node.mac_addr is None:
        origins["mac_addr"] = derivation("the first card of the VM")
    if node.disk is None and node.disk_selector is None:
        origins["disk"] = derivation("the first SCSI disk of the VM")
    node_class = node.class_ or _class_of_role(estate, controller=controller)
    if node.class_ is None and node_class is not None:
        origins["node_class"] = derivation("class of the role")
    return _resolved(
        Node,
        node,
        origins=origins,
        name=name,
        role=Role.CONTROLLER if controller else Role.WORKER,
        node_class=node_class,
        address=IPv4Interface(f"{require(node.address)}/{prefix}"),
        mac_addr=node_mac(estate, node),
        disk=node.disk or ("" if node.disk_selector is not None else _SCSI_DISK),
        schematic=resolve_schematic(estate, node),
        patches=node.talos.patches,
        settings=merge_settings(estate.talos, node.talos),
        expect=_expect(node),
        vm=_resolve_vm(estate, node, node.vm) if node.vm is not None else None,
    )


def node_mac(estate: Configuration, node: NodeSection) -> Mac:
    """Return the MAC address of a node's first card; VMs without one get a derived address."""
    first = node.vm.nics[0].mac_addr if node.vm is not None and node.vm.nics else None
    return node.mac_addr or first or card_mac(estate.cluster.name, require(node.name), 0)


def _resolved(cls: type[TracedT], section: Traced, **own: object) -> TracedT:
    """Return a record with these values; all others are those of the section with the same name."""
    values: dict[str, Any] = dict(own)
    for name in _field_names(cls):
        if name not in own:
            values[name] = getattr(section, name)
    return cls(**values)


def _field_names(cls: type[Traced]) -> list[str]:
    return [field.name for field in fields(_dataclass(cls))]


def _expect(node: NodeSection) -> Expect:
    expect = node.expect
    if expect.nic_count is not None or node.vm is None:
        return expect
    origins = {**expect.origins, "nic_count": derivation("cards of the VM")}
    return replace(expect, origins=origins, nic_count=max(len(node.vm.nics), 1))


def _class_of_role(estate: Configuration, *, controller: bool) -> ClassName | None:
    role = ClassName("controller" if controller else "worker")
    return role if role in estate.classes else None


def resolve_schematic(estate: Configuration, node: NodeSection) -> Schematic:
    """Return the image of a node, from the most specific key."""
    talos = estate.talos
    role = "controller_schematic_id" if node.controller else "worker_schematic_id"
    own = node.talos
    candidates: list[tuple[Traced, str, str]] = [
        (node, "schematic_id", "id"),
        (own, "schematic", "written"),
    ]
    if not own.extensions and not own.kernel_args:
        candidates += [
            (talos, role, "id"),
            (talos, "schematic_id", "id"),
            (talos, "schematic", "written"),
        ]
    for section, field, kind in candidates:
        value = getattr(section, field)
        if value is not None:
            return Schematic(
                origins={kind: section.origins[field]} if field in section.origins else {},
                id=value if kind == "id" else None,
                written=value if kind == "written" else None,
                extensions=(),
                kernel_args=(),
            )
    origins: dict[str, Origin] = {}
    for field in ("extensions", "kernel_args"):
        written = own.origins.get(field) or talos.origins.get(field)
        if written is not None:
            origins[field] = written
    return Schematic(
        origins=origins,
        id=None,
        written=None,
        extensions=_unique_items(talos.extensions, own.extensions),
        kernel_args=_unique_items(talos.kernel_args, own.kernel_args),
    )


def _unique_items(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _resolve_vm(estate: Configuration, node: NodeSection, vm: VmSection) -> Vm:
    name = require(node.name)
    cluster = estate.cluster.name
    origins = dict(vm.origins)
    origins["name"] = derivation("the node's name")
    if vm.uuid is None:
        origins["uuid"] = derivation("from cluster and node name")
    if vm.region is None:
        origins["region"] = derivation("the only Proxmox cluster")
    if vm.ha_group is not None:
        origins["ha"] = origins["ha_group"]
    filled = complete_hardware(
        replace(vm, ha=_high_availability(vm), origins=origins), vm.datastore
    )
    return _resolved(
        Vm,
        filled,
        name=name,
        vmid=require(vm.vmid),
        host=require(vm.host),
        region=Region(vm.region) if vm.region is not None else _only_region(estate),
        uuid=vm.uuid or machine_uuid(cluster, name),
        data_disks=_data_disks(vm.data_disks, vm.datastore),
        nics=_node_cards(cluster, name, node_mac(estate, node), vm),
    )


def _only_region(estate: Configuration) -> Region:
    return proxmox_clusters(require(estate.proxmox))[0].region


def _high_availability(vm: VmSection) -> HighAvailability | None:
    if vm.ha_group is None:
        return vm.ha
    return replace(vm.ha or HighAvailability(), group=vm.ha_group)


def _data_disks(disks: tuple[DataDisk, ...], datastore: Datastore) -> tuple[DataDisk, ...]:
    beside = derivation("the storage of the system disk")
    return tuple(
        replace(disk, origins={**disk.origins, "datastore": beside}, datastore=datastore)
        if disk.datastore is None
        else disk
        for disk in disks
    )


def _node_cards(cluster: str, node: NodeName, first: Mac, vm: VmSection) -> tuple[Nic, ...]:
    short = {field: vm.origins[field] for field in ("bridge", "vlan_id") if field in vm.origins}
    written = vm.nics or (Nic(origins=short, bridge=vm.bridge, vlan_id=vm.vlan_id),)
    return (
        _with_mac(written[0], first, "the node's mac_addr"),
        *network_cards(cluster, node, written)[1:],
    )


def network_cards(owner: str, name: str, nics: tuple[Nic, ...]) -> tuple[Nic, ...]:
    """Return the network cards of a machine with their MAC addresses."""
    return tuple(
        _with_mac(nic, card_mac(owner, name, index), "from cluster, node and position")
        for index, nic in enumerate(nics)
    )


def _with_mac(nic: Nic, mac: Mac, reason: str) -> Nic:
    if nic.mac_addr is not None:
        return nic
    origins = {**nic.origins, "mac_addr": derivation(reason)}
    return replace(nic, origins=origins, mac_addr=mac)


_DNS_INDEX = 10
_API_PORT = 6443
_GUESTS_NAME = "guests"


def resolve(loaded: LoadedConfig) -> Desired:
    """Return the desired state; refuses configurations with errors or required encrypted values."""
    _check_ready(loaded)
    estate = loaded.configuration
    clusters = proxmox_clusters(estate.proxmox) if estate.proxmox is not None else ()
    name, nodes = configuration_name(estate), resolve_nodes(estate)
    return _resolved(
        Desired,
        estate,
        name=name,
        cluster=_cluster(estate) if estate.nodes else None,
        nodes=nodes,
        proxmox=tuple(_resolve_templates(cluster, nodes) for cluster in clusters),
        connect=dict(estate.proxmox.connect) if estate.proxmox is not None else {},
        components=resolve_components(estate),
        backup=_backup(estate),
        guests=tuple(_resolve_guest(name, guest) for guest in estate.guests),
        fingerprint="",
        earlier_fingerprint="",
    )


def configuration_name(estate: Configuration) -> str:
    """Return the name of the cluster, or of guests without a cluster."""
    is_named = bool(estate.nodes) or "name" in estate.cluster.origins
    return estate.cluster.name if is_named else _GUESTS_NAME


def _check_ready(loaded: LoadedConfig) -> None:
    errors = loaded.problems.errors
    if errors:
        raise Refused(
            Problem(
                code="config.unresolved",
                what="the configuration has mistakes",
                where=errors[0].where,
                why=f"{len(errors)} found, the first: {errors[0].what}",
                fix="run `stockman validate` and put them right",
            )
        )
    if loaded.encrypted:
        first = loaded.encrypted[0]
        raise Refused(
            Problem(
                code="config.encrypted",
                what=f"{first.name} is encrypted",
                where=first.at,
                why="encrypted and needed: "
                f"{', '.join(origin.name for origin in loaded.encrypted)}",
                fix="give the values in the clear; only secrets have to be encrypted",
            )
        )


def _cluster(estate: Configuration) -> Cluster:
    spegel, gateways = estate.spegel.enabled, estate.gateways
    return Cluster(
        origins={
            **_rename_origins(estate.cluster, name="name"),
            "spegel": estate.spegel.origins.get("enabled")
            or derivation("from the number of nodes"),
        },
        name=estate.cluster.name,
        network=_network(estate),
        kubernetes=_kubernetes(estate),
        gateways=_resolved(
            Gateways,
            gateways,
            internal=require(gateways.internal),
            dns=require(gateways.dns),
        ),
        repository=_repository(estate),
        edge=_edge(estate),
        cilium=_cilium(estate),
        spegel=len(estate.nodes) > 1 if spegel is None else spegel,
        talos=_talos(estate),
    )


def _network(estate: Configuration) -> Network:
    network = estate.network
    cidr = require(network.node_cidr)
    origins = dict(network.origins)
    if network.default_gateway is None:
        origins["default_gateway"] = derivation("first address of the node network")
    gateway = network.default_gateway or first_address(cidr)
    return _resolved(Network, network, origins=origins, node_cidr=cidr, default_gateway=gateway)


def talos_version(estate: Configuration) -> Version:
    """Return the Talos version of the cluster."""
    return estate.talos.version or compatibility.default_talos_version()


def _kubernetes(estate: Configuration) -> Kubernetes:
    kubernetes = estate.kubernetes
    line = compatibility.talos_line(talos_version(estate))
    origins = {
        **kubernetes.origins,
        **_rename_origins(
            kubernetes.api, api_addr="addr", api_endpoint="endpoint", api_tls_sans="tls_sans"
        ),
    }
    endpoint = kubernetes.api.endpoint
    if endpoint is None:
        endpoint = f"https://{require(kubernetes.api.addr)}:{_API_PORT}"
        if "api_addr" in origins:
            origins["api_endpoint"] = origins["api_addr"]
    version = kubernetes.version
    if version is None:
        version = require(line).kubernetes_default
        origins["version"] = derivation(f"default of Talos {talos_version(estate).minor_text}")
    if kubernetes.coredns_addr is None:
        origins["coredns_addr"] = derivation("tenth address of the service network")
    scheduled = kubernetes.schedule_on_controllers
    if scheduled is None:
        scheduled = all(node.controller for node in estate.nodes)
        origins["schedule_on_controllers"] = derivation(
            "there are no workers" if scheduled else "there are workers"
        )
    return _resolved(
        Kubernetes,
        kubernetes,
        origins=origins,
        version=version,
        coredns_addr=kubernetes.coredns_addr or kubernetes.svc_cidr[_DNS_INDEX],
        api_addr=require(kubernetes.api.addr),
        api_endpoint=endpoint,
        api_tls_sans=kubernetes.api.tls_sans,
        schedule_on_controllers=scheduled,
    )


def _repository(estate: Configuration) -> Repository:
    repository = estate.repository
    url = require(repository.url)
    origins = {**repository.origins, "private": derivation("from the form of the address")}
    if repository.ci is None:
        origins["ci"] = derivation("from the host of the address")
    return _resolved(
        Repository,
        repository,
        origins=origins,
        url=url,
        private=not url.startswith(("https://", "http://")),
        ci=repository.ci or _ci(url, repository.webhook_provider),
    )


def _ci(url: str, webhook_provider: str) -> Literal["github", "gitlab", "none"]:
    server = git_host(url)
    if server == "github.com":
        return "github"
    return "gitlab" if "gitlab" in (*server.split("."), webhook_provider) else "none"


def _edge(estate: Configuration) -> Edge:
    provider = estate.dns.provider
    origins = {
        **_rename_origins(estate.domain, domain="name"),
        **_rename_origins(estate.dns, dns_provider="provider", dns_token="token"),
        **_rename_origins(estate.ingress, ingress_mode="mode"),
    }
    mode = estate.ingress.mode
    if mode is None:
        mode = "none" if provider == "none" else "cloudflare-tunnel"
        origins["ingress_mode"] = derivation("follows the DNS provider")
    return Edge(
        origins=origins,
        domain=estate.domain.name,
        dns_provider=provider,
        dns_token=estate.dns.token,
        ingress_mode=mode,
    )


def _cilium(estate: Configuration) -> Cilium:
    bgp = estate.cilium.bgp
    resolved_bgp = None
    if bgp.router_addr is not None:
        asns = {"router_asn": require(bgp.router_asn), "node_asn": require(bgp.node_asn)}
        resolved_bgp = _resolved(Bgp, bgp, **asns)
    return _resolved(Cilium, estate.cilium, bgp=resolved_bgp)


def _talos(estate: Configuration) -> Talos:
    talos = estate.talos
    version = talos_version(estate)
    origins = dict(talos.origins)
    if talos.version is None:
        origins["version"] = derivation("the newest that stockman was tested with")
    if talos.contract is None:
        origins["contract"] = derivation("the line of the version")
    contract = Version(*(talos.contract or version).line)
    return _resolved(Talos, talos, origins=origins, version=version, contract=contract)


def _backup(estate: Configuration) -> Backup:
    backup = estate.backup
    origins = dict(backup.origins)
    enabled = backup.enabled
    if "enabled" not in origins and backup.targets:
        enabled = True
        origins["enabled"] = derivation("there is a target")
    targets = tuple(
        replace(
            target,
            prefix=estate.cluster.name,
            origins={**target.origins, "prefix": derivation("the cluster's name")},
        )
        if not target.prefix
        else target
        for target in backup.targets
    )
    return replace(backup, origins=origins, enabled=enabled, targets=targets)


def _resolve_guest(owner: str, guest: Guest) -> Guest:
    vm, container = guest.vm, guest.container
    if vm is not None:
        origins = dict(vm.origins)
        if vm.uuid is None:
            origins["uuid"] = derivation("from cluster and guest name")
        vm = replace(
            vm,
            origins=origins,
            uuid=vm.uuid or machine_uuid(owner, guest.name),
            data_disks=_data_disks(vm.data_disks, vm.datastore),
            nics=network_cards(owner, guest.name, vm.nics),
        )
        vm = complete_hardware(vm, vm.datastore)
    if container is not None:
        container = replace(container, nics=network_cards(owner, guest.name, container.nics))
    return replace(guest, vm=vm, container=container)


def _resolve_templates(cluster: ProxmoxCluster, nodes: tuple[Node, ...]) -> ProxmoxCluster:
    vms = {node.name: node.vm for node in nodes}
    templates = tuple(
        _resolve_template(template, vm) if (vm := vms.get(template.like)) is not None else template
        for template in cluster.templates
    )
    return replace(cluster, templates=templates)


def _resolve_template(template: VmTemplate, vm: Vm) -> VmTemplate:
    origins = dict(template.origins)
    if template.datastore is None:
        origins["datastore"] = derivation("the storage of the node")
    if not template.hosts:
        origins["hosts"] = derivation("the host of the node")
    return replace(
        template,
        origins=origins,
        datastore=template.datastore or vm.datastore,
        hosts=template.hosts or (vm.host,),
    )


def _rename_origins(section: Traced, **names: str) -> dict[str, Origin]:
    return {new: section.origins[old] for new, old in names.items() if old in section.origins}


def first_address(network: IPv4Network) -> IPv4Address:
    """Return the first host address of a network; the only one of a /32."""
    return network[1] if network.prefixlen < 31 else network[0]
