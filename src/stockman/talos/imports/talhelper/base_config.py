"""What talhelper makes of a node before any patch."""

from __future__ import annotations

from stockman.config.convert.draft import text_scalar
from stockman.config.source.tree import MappingEntry, MappingNode, ScalarNode, to_plain_data
from stockman.talos.imports.foreign import list_items
from stockman.talos.imports.go_template import UnsupportedTemplate, is_template, render_template
from stockman.talos.imports.installer import FactoryInstaller, parse_installer, schematic_keys
from stockman.talos.imports.talhelper.devices import device_documents
from stockman.talos.imports.talhelper.node_keys import NEWEST_VERSION, NodeKey, TalhelperNode
from stockman.talos.machine.gen_config import GenConfigOptions, generate_config
from stockman.talos.machine.inputs import Document
from stockman.talos.machine.inputs import new_document as kind

_MULTIDOC = (1, 12)
"""The contract from which on the network is made of documents."""
_PODS, _SERVICES = ("10.244.0.0/16",), ("10.96.0.0/12",)


def base_documents(asked: TalhelperNode) -> list[Document]:
    """The documents of a node, without secrets and without what became a patch of ours."""
    main = _v1alpha1(asked)
    if asked.contract < _MULTIDOC:
        machine = main["machine"]
        if isinstance(machine, dict):
            machine["network"] = _old_network(asked)
        return [main]
    return [main, *_network_documents(asked)]


def node_devices(asked: TalhelperNode) -> list[Document]:
    """`networkInterfaces`, as values."""
    one = asked.given.get("networkInterfaces")
    found = to_plain_data(one.value) if one is not None else []
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def node_installer(asked: TalhelperNode) -> FactoryInstaller | None:
    """The installer of a node. None: it is not one of an Image Factory."""
    url = asked.given.get("talosImageURL")
    spec = asked.mapping("machineSpec") or MappingNode(asked.name.at)
    mode, secured = spec.get("mode"), spec.get("secureboot")
    secureboot = isinstance(secured, ScalarNode) and secured.text.lower() == "true"
    version = asked.version("talosVersion", NEWEST_VERSION)
    if url is not None and isinstance(url.value, ScalarNode):
        return parse_installer(url.value, version, secureboot=secureboot)
    schematic = asked.given.get("schematic")
    keys = schematic_keys(schematic.value if schematic else None, asked.name)
    if keys is None:
        return None
    platform = mode.text if isinstance(mode, ScalarNode) and mode.text else "metal"
    return keys.installed(_factory_host(asked), platform, version, secureboot=secureboot)


def installer_reference(asked: TalhelperNode) -> str:
    """The installer as the machine is told of it."""
    found = node_installer(asked)
    if found is not None:
        return found.reference
    url = asked.given.get("talosImageURL")
    text = url.value.text if url is not None and isinstance(url.value, ScalarNode) else ""
    return f"{text}:{asked.version('talosVersion', NEWEST_VERSION)}" if text else ""


def fill_templates(asked: TalhelperNode, one: NodeKey) -> MappingNode:
    """Labels or annotations with their templates filled in."""
    entries: dict[str, MappingEntry] = {}
    given = one.value.entries if isinstance(one.value, MappingNode) else {}
    for name, entry in given.items():
        value = entry.value
        if isinstance(value, ScalarNode) and is_template(value.text):
            try:
                text = render_template(
                    value.at.file, value.text, template_data(asked), value.at.line
                )
            except UnsupportedTemplate as error:
                how = f"a template that is not understood: {error.why}"
                asked.foreign.say(f"{one.known}.{name}", value.at, "left out", how)
                continue
            value = text_scalar(text, value)
        entries[name] = MappingEntry(entry.key, value, name=f"{one.known}.{name}")
    return MappingNode(one.value.at, entries)


def template_data(asked: TalhelperNode) -> Document:
    """What templates are told, in the words of Go's structures, as far as no patch moves it."""
    disk = asked.given.get("installDisk")
    network: Document = {}
    if asked.contract < _MULTIDOC and not asked.has("ignoreHostname"):
        network["NetworkHostname"] = asked.name.text
    install: Document = {"InstallImage": installer_reference(asked)}
    if disk is not None and isinstance(disk.value, ScalarNode):
        install["InstallDisk"] = disk.value.text
    return {
        "MachineConfig": {
            "MachineType": "controlplane" if asked.is_controller else "worker",
            "MachineInstall": install,
            "MachineNetwork": network,
        },
        "ClusterConfig": {"ClusterName": asked.top("clusterName")},
    }


def _v1alpha1(asked: TalhelperNode) -> Document:
    scheduling = ("allowSchedulingOnMasters", "allowSchedulingOnControlPlanes")
    made = generate_config(
        GenConfigOptions(
            contract=asked.contract,
            is_controller=asked.is_controller,
            cluster_name=asked.top("clusterName"),
            endpoint=asked.top("endpoint"),
            kubernetes=asked.version("kubernetesVersion"),
            pod_networks=tuple(asked.top_texts("clusterPodNets")) or _PODS,
            service_networks=tuple(asked.top_texts("clusterSvcNets")) or _SERVICES,
            dns_domain=asked.top("domain") or "cluster.local",
            machine_names=(*asked.top_texts("additionalMachineCertSans"), *_cert_sans(asked)),
            api_names=tuple(asked.top_texts("additionalApiServerCertSans")),
            schedule_on_controllers=any(asked.top(key).lower() == "true" for key in scheduling),
            installer=installer_reference(asked),
        )
    )
    machine, cluster, cni = made["machine"], made["cluster"], asked.tree.get("cniConfig")
    if isinstance(machine, dict):
        _fill_machine(asked, machine)
    if isinstance(cluster, dict) and cni is not None:
        cluster["network"] = {**cluster["network"], "cni": to_plain_data(cni)}
    return made


def _fill_machine(asked: TalhelperNode, machine: Document) -> None:
    """What keys put into the document where nothing is, or in the place of what is."""
    install = machine["install"]
    if isinstance(install, dict):
        for key, name in (("installDisk", "disk"), ("installDiskSelector", "diskSelector")):
            if asked.has(key) and not asked.has_piece(key):
                install[name] = to_plain_data(asked.given[key].value)
    for key in ("nodeLabels", "nodeAnnotations", "nodeTaints"):
        if asked.has(key):
            machine[key] = to_plain_data(fill_templates(asked, asked.given[key]))
    if asked.has("kernelModules") and not asked.has_piece("kernelModules"):
        machine["kernel"] = {"modules": to_plain_data(asked.given["kernelModules"].value)}


def _old_network(asked: TalhelperNode) -> Document:
    network: Document = {}
    if not asked.has("ignoreHostname"):
        network["hostname"] = asked.name.text
    if found := node_devices(asked):
        network["interfaces"] = found
    if servers := asked.texts("nameservers"):
        network["nameservers"] = servers
    if asked.has("disableSearchDomain"):
        network["disableSearchDomain"] = True
    return network


def _network_documents(asked: TalhelperNode) -> list[Document]:
    if asked.has("ignoreHostname"):
        found = [kind("HostnameConfig", auto="stable")]
    else:
        found = [kind("HostnameConfig", auto="off", hostname=asked.name.text)]
    servers, disabled = asked.texts("nameservers"), asked.has("disableSearchDomain")
    if servers or disabled:
        found.append(
            kind(
                "ResolverConfig",
                nameservers=[{"address": one} for one in servers],
                searchDomains={"disableDefault": disabled},
            )
        )
    return found + device_documents(node_devices(asked))


def _cert_sans(asked: TalhelperNode) -> list[str]:
    """`certSANs` of the node, then of its group unless they are overridden."""
    own = asked.given.get("certSANs")
    names = asked.texts("certSANs")
    if own is None or own.scope != "node" or asked.has("overrideMachineCertSANs"):
        return names
    shared = list_items(asked.group.get("certSANs"))
    return names + [one.text for one in shared if isinstance(one, ScalarNode)]


def _factory_host(asked: TalhelperNode) -> str:
    factory = asked.tree.get("imageFactory")
    host = factory.get("registryURL") if isinstance(factory, MappingNode) else None
    return host.text if isinstance(host, ScalarNode) else "factory.talos.dev"
