"""Machine configuration that talhelper generates for a node before any patch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from stockman.config.convert.draft import text_scalar
from stockman.config.source.tree import MappingEntry, MappingNode, ScalarNode, to_plain_data
from stockman.talos.documents import Document, as_mapping, as_mappings, as_texts
from stockman.talos.imports.foreign import (
    FactoryInstaller,
    list_items,
    parse_installer,
    schematic_keys,
)
from stockman.talos.imports.go_template import UnsupportedTemplate, is_template, render_template
from stockman.talos.imports.talhelper.node_keys import NEWEST_VERSION, NodeKey, TalhelperNode
from stockman.talos.machine.gen_config import GenConfigOptions, generate_config
from stockman.talos.machine.inputs import new_document
from stockman.talos.machine.inputs import new_document as kind

_MULTIDOC = (1, 12)
"""The first contract with network settings in separate documents."""
_PODS, _SERVICES = ("10.244.0.0/16",), ("10.96.0.0/12",)


def base_documents(node: TalhelperNode) -> list[Document]:
    """Return the documents of a node, without secrets and without what became a patch."""
    main = _v1alpha1(node)
    if node.contract < _MULTIDOC:
        machine = main["machine"]
        if isinstance(machine, dict):
            machine["network"] = _old_network(node)
        return [main]
    return [main, *_network_documents(node)]


def node_devices(node: TalhelperNode) -> list[Document]:
    """Return `networkInterfaces` as plain values."""
    setting = node.settings.get("networkInterfaces")
    devices = to_plain_data(setting.value) if setting is not None else []
    return [item for item in devices if isinstance(item, dict)] if isinstance(devices, list) else []


def node_installer(node: TalhelperNode) -> FactoryInstaller | None:
    """Return the installer of a node. None: it is not from an image factory."""
    url = node.settings.get("talosImageURL")
    spec = node.mapping("machineSpec") or MappingNode(node.name.at)
    mode, secured = spec.get("mode"), spec.get("secureboot")
    secureboot = isinstance(secured, ScalarNode) and secured.text.lower() == "true"
    version = node.version("talosVersion", NEWEST_VERSION)
    if url is not None and isinstance(url.value, ScalarNode):
        return parse_installer(url.value, version, secureboot=secureboot)
    schematic = node.settings.get("schematic")
    keys = schematic_keys(schematic.value if schematic else None, node.name)
    if keys is None:
        return None
    platform = mode.text if isinstance(mode, ScalarNode) and mode.text else "metal"
    return keys.installer(_factory_host(node), platform, version, secureboot=secureboot)


def installer_reference(node: TalhelperNode) -> str:
    """Return the installer reference as the machine configuration contains it."""
    installer = node_installer(node)
    if installer is not None:
        return installer.reference
    url = node.settings.get("talosImageURL")
    text = url.value.text if url is not None and isinstance(url.value, ScalarNode) else ""
    return f"{text}:{node.version('talosVersion', NEWEST_VERSION)}" if text else ""


def fill_templates(node: TalhelperNode, setting: NodeKey) -> MappingNode:
    """Return labels or annotations with their templates rendered."""
    entries: dict[str, MappingEntry] = {}
    labels = setting.value.entries if isinstance(setting.value, MappingNode) else {}
    for name, entry in labels.items():
        value = entry.value
        if isinstance(value, ScalarNode) and is_template(value.text):
            try:
                text = render_template(
                    value.at.file, value.text, template_data(node), value.at.line
                )
            except UnsupportedTemplate as error:
                how = f"an unsupported template: {error.why}"
                node.foreign.record(f"{setting.label}.{name}", value.at, "left out", how)
                continue
            value = text_scalar(text, value)
        entries[name] = MappingEntry(entry.key, value, name=f"{setting.label}.{name}")
    return MappingNode(setting.value.at, entries)


def template_data(node: TalhelperNode) -> Document:
    """Return the data for templates, named as in Go's structures."""
    disk = node.settings.get("installDisk")
    network: Document = {}
    if node.contract < _MULTIDOC and not node.has("ignoreHostname"):
        network["NetworkHostname"] = node.name.text
    install: Document = {"InstallImage": installer_reference(node)}
    if disk is not None and isinstance(disk.value, ScalarNode):
        install["InstallDisk"] = disk.value.text
    return {
        "MachineConfig": {
            "MachineType": "controlplane" if node.is_controller else "worker",
            "MachineInstall": install,
            "MachineNetwork": network,
        },
        "ClusterConfig": {"ClusterName": node.top("clusterName")},
    }


def _v1alpha1(node: TalhelperNode) -> Document:
    scheduling = ("allowSchedulingOnMasters", "allowSchedulingOnControlPlanes")
    document = generate_config(
        GenConfigOptions(
            contract=node.contract,
            is_controller=node.is_controller,
            cluster_name=node.top("clusterName"),
            endpoint=node.top("endpoint"),
            kubernetes=node.version("kubernetesVersion"),
            pod_networks=tuple(node.top_texts("clusterPodNets")) or _PODS,
            service_networks=tuple(node.top_texts("clusterSvcNets")) or _SERVICES,
            dns_domain=node.top("domain") or "cluster.local",
            machine_names=(*node.top_texts("additionalMachineCertSans"), *_cert_sans(node)),
            api_names=tuple(node.top_texts("additionalApiServerCertSans")),
            schedule_on_controllers=any(node.top(key).lower() == "true" for key in scheduling),
            installer=installer_reference(node),
        )
    )
    machine, cluster, cni = document["machine"], document["cluster"], node.tree.get("cniConfig")
    if isinstance(machine, dict):
        _fill_machine(node, machine)
    if isinstance(cluster, dict) and cni is not None:
        cluster["network"] = {**cluster["network"], "cni": to_plain_data(cni)}
    return document


def _fill_machine(node: TalhelperNode, machine: Document) -> None:
    """Apply keys of the node to the `machine` section."""
    install = machine["install"]
    if isinstance(install, dict):
        for key, name in (("installDisk", "disk"), ("installDiskSelector", "diskSelector")):
            if node.has(key) and not node.has_patch(key):
                install[name] = to_plain_data(node.settings[key].value)
    for key in ("nodeLabels", "nodeAnnotations", "nodeTaints"):
        if node.has(key):
            machine[key] = to_plain_data(fill_templates(node, node.settings[key]))
    if node.has("kernelModules") and not node.has_patch("kernelModules"):
        machine["kernel"] = {"modules": to_plain_data(node.settings["kernelModules"].value)}


def _old_network(node: TalhelperNode) -> Document:
    network: Document = {}
    if not node.has("ignoreHostname"):
        network["hostname"] = node.name.text
    if devices := node_devices(node):
        network["interfaces"] = devices
    if servers := node.texts("nameservers"):
        network["nameservers"] = servers
    if node.has("disableSearchDomain"):
        network["disableSearchDomain"] = True
    return network


def _network_documents(node: TalhelperNode) -> list[Document]:
    if node.has("ignoreHostname"):
        documents = [kind("HostnameConfig", auto="stable")]
    else:
        documents = [kind("HostnameConfig", auto="off", hostname=node.name.text)]
    servers, disabled = node.texts("nameservers"), node.has("disableSearchDomain")
    if servers or disabled:
        documents.append(
            kind(
                "ResolverConfig",
                nameservers=[{"address": server} for server in servers],
                searchDomains={"disableDefault": disabled},
            )
        )
    return documents + device_documents(node_devices(node))


def _cert_sans(node: TalhelperNode) -> list[str]:
    """Return `certSANs` of the node, then of its group unless they are overridden."""
    own = node.settings.get("certSANs")
    names = node.texts("certSANs")
    if own is None or own.scope != "node" or node.has("overrideMachineCertSANs"):
        return names
    shared = list_items(node.group.get("certSANs"))
    return names + [name.text for name in shared if isinstance(name, ScalarNode)]


def _factory_host(node: TalhelperNode) -> str:
    factory = node.tree.get("imageFactory")
    host = factory.get("registryURL") if isinstance(factory, MappingNode) else None
    return host.text if isinstance(host, ScalarNode) else "factory.talos.dev"


_BOND_FIELDS = {
    "mode": "bondMode",
    "miimon": "miimon",
    "updelay": "updelay",
    "downdelay": "downdelay",
    "useCarrier": "useCarrier",
    "xmitHashPolicy": "xmitHashPolicy",
    "arpInterval": "arpInterval",
    "arpIPTarget": "arpIpTargets",
    "arpValidate": "arpValidate",
    "arpAllTargets": "arpAllTargets",
    "lacpRate": "lacpRate",
    "failOverMac": "failOverMac",
    "adSelect": "adSelect",
    "adActorSysPrio": "adActorSysPrio",
    "adUserPortKey": "adUserPortKey",
    "primaryReselect": "primaryReselect",
    "resendIgmp": "resendIGMP",
    "minLinks": "minLinks",
    "lpInterval": "lpInterval",
    "packetsPerSlave": "packetsPerSlave",
    "numPeerNotif": "numPeerNotif",
    "tlbDynamicLb": "tlbLogicalLb",
    "allSlavesActive": "allSlavesActive",
    "peerNotifyDelay": "peerNotifDelay",
}
_SELECTORS = {
    "hardwareAddr": 'glob("{}", mac(link.hardware_addr))',
    "permanentAddr": 'glob("{}", mac(link.permanent_addr))',
    "busPath": 'glob("{}", link.bus_path)',
    "driver": 'glob("{}", link.driver)',
    "pciID": 'glob("{}", link.pciid)',
}
_SPECIAL = ("bond", "wireguard", "bridge")
_DEFAULT_ROUTES = ("0.0.0.0/0", "::/0")


def device_documents(devices: list[Document]) -> list[Document]:
    """Return aliases, bonds, DHCP, virtual IPs, links, VLANs, tunnels, bridges, in this order."""
    named = _name_devices(devices)
    documents: list[Document] = [*_aliases(named)]
    for device, name in named:
        bond = as_mapping(device.get("bond"))
        if bond:
            documents.append(
                new_document("BondConfig", name=name, **_bond(bond, name), **_common_fields(device))
            )
    for device, name in named:
        if device.get("dhcp") is True:
            documents += _dhcp(name, as_mapping(device.get("dhcpOptions")))
    for device, name in named:
        if address := as_mapping(device.get("vip")).get("ip"):
            documents.append(new_document("Layer2VIPConfig", name=address, link=name))
    for device, name in named:
        common = _common_fields(device)
        if common and not any(key in device for key in _SPECIAL):
            documents.append(new_document("LinkConfig", name=name, **common))
    for device, name in named:
        for vlan in as_mappings(device.get("vlans")):
            documents += _vlan(vlan, name)
    for device, name in named:
        if tunnel := as_mapping(device.get("wireguard")):
            documents.append(
                new_document("WireguardConfig", name=name, **tunnel, **_common_fields(device))
            )
    for device, name in named:
        if bridge := as_mapping(device.get("bridge")):
            documents.append(
                new_document("BridgeConfig", name=name, **_bridge(bridge), **_common_fields(device))
            )
    return documents


def _name_devices(devices: list[Document]) -> list[tuple[Document, str]]:
    """Return devices with their names; a device with only a selector is named by its kind."""
    used = {str(device["interface"]) for device in devices if device.get("interface")}
    numbers = {stem: count() for stem in ("bond", "br", "wg", "ethSel")}
    pairs = []
    for device in devices:
        name = str(device.get("interface") or "")
        if not name and device.get("deviceSelector"):
            stem = next(
                (
                    stem
                    for key, stem in (("bond", "bond"), ("bridge", "br"), ("wireguard", "wg"))
                    if key in device
                ),
                "ethSel",
            )
            name = next(free for n in numbers[stem] if (free := f"{stem}{n}") not in used)
            used.add(name)
        pairs.append((device, name))
    return pairs


def _aliases(named: list[tuple[Document, str]]) -> Iterator[Document]:
    for device, name in named:
        match = _expression(as_mapping(device.get("deviceSelector")))
        if match:
            yield new_document("LinkAliasConfig", name=name, selector={"match": match})
    for device, name in named:
        members = as_mappings(as_mapping(device.get("bond")).get("deviceSelectors"))
        for index, selector in enumerate(members):
            match = _expression(selector)
            if match:
                member = f"{name}-m{index}"
                yield new_document("LinkAliasConfig", name=member, selector={"match": match})


def _expression(selector: Document) -> str:
    conditions = [
        form.format(selector[key]) for key, form in _SELECTORS.items() if selector.get(key)
    ]
    physical = selector.get("physical")
    if isinstance(physical, bool):
        conditions.append("link.type == 1" if physical else "link.type != 1")
    return " && ".join(conditions)


def _bond(bond: Document, name: str) -> Document:
    members = len(as_mappings(bond.get("deviceSelectors")))
    links = [*as_texts(bond.get("interfaces")), *(f"{name}-m{index}" for index in range(members))]
    fields = {new: bond[old] for old, new in _BOND_FIELDS.items() if bond.get(old) not in (None, 0)}
    return {"links": links, **fields} if links else fields


def _bridge(bridge: Document) -> Document:
    fields: Document = {"links": as_texts(bridge.get("interfaces"))}
    stp = as_mapping(bridge.get("stp"))
    if "enabled" in stp:
        fields["stp"] = {"enabled": stp["enabled"]}
    if as_mapping(bridge.get("vlan")).get("vlanFiltering") is True:
        fields["vlan"] = {"filtering": True}
    return fields


def _vlan(vlan: Document, parent: str) -> Iterator[Document]:
    name = f"{parent}.{vlan.get('vlanId')}"
    yield new_document(
        "VLANConfig", name=name, vlanID=vlan.get("vlanId"), parent=parent, **_common_fields(vlan)
    )
    if vlan.get("dhcp") is True:
        yield from _dhcp(name, as_mapping(vlan.get("dhcpOptions")))
    if address := as_mapping(vlan.get("vip")).get("ip"):
        yield new_document("Layer2VIPConfig", name=address, link=name)


def _dhcp(name: str, options: Document) -> Iterator[Document]:
    metric = {"routeMetric": options["routeMetric"]} if options.get("routeMetric") else {}
    if options.get("ipv4") is not False:
        yield new_document("DHCPv4Config", name=name, **metric)
    if options.get("ipv6") is True:
        yield new_document("DHCPv6Config", name=name, **metric)


def _common_fields(device: Document) -> Document:
    """Return addresses, routes and MTU, which every kind of link has."""
    fields: Document = {}
    if device.get("mtu"):
        fields["mtu"] = device["mtu"]
    addresses = as_texts(device.get("addresses"))
    if addresses:
        fields["addresses"] = [{"address": _with_prefix(address)} for address in addresses]
    routes = [_route(route) for route in as_mappings(device.get("routes"))]
    if routes:
        fields["routes"] = routes
    return fields


def _with_prefix(address: str) -> str:
    if "/" in address:
        return address
    return f"{address}/{128 if ':' in address else 32}"


def _route(route: Document) -> Document:
    fields: Document = {}
    if route.get("network") and route["network"] not in _DEFAULT_ROUTES:
        fields["destination"] = route["network"]
    for key in ("gateway", "source", "metric", "mtu"):
        if route.get(key):
            fields[key] = route[key]
    return fields
