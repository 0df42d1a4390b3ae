"""Convert the cluster of another tool to our files, and report every remaining difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Literal

from stockman.config.convert.draft import NO_COMMENTS, ConfigDraft, finish_conversion, put_value
from stockman.config.convert.output import ConversionResult, ConvertedKey, MachineDifference
from stockman.config.source.tree import MappingEntry, MappingNode, ScalarNode, SequenceNode
from stockman.model.desired import Desired
from stockman.model.origin import Position
from stockman.model.problem import Problem, Severity
from stockman.talos.documents import Document, as_mapping, as_texts
from stockman.talos.imports import configurations as machines
from stockman.talos.imports.configurations import (
    Configuration,
    PlainLink,
    any_mac,
    base_documents,
    find_network,
    link_patches,
    load_desired,
    merge_patches,
    node_configuration,
    patch_problem,
    plain_link,
)
from stockman.talos.imports.foreign import (
    BUNDLE,
    BUNDLE_NAMES,
    ForeignCluster,
    ForeignNode,
    ForeignPatch,
    PatchOrder,
    PatchScope,
    build_node,
    nest_value,
    new_scalar,
    source_files,
    text_entry,
)
from stockman.talos.imports.patches import PatchTrimmer, assign_levels, patch_source, shared_paths
from stockman.talos.patches.patch import PatchRefused

Platform = Literal["nocloud", "metal"]

_IMAGE = "v1alpha1 machine.install.image"
_USUAL_MTU = 1500
_KEY_ORDER = (
    "name",
    "address",
    "controller",
    "disk",
    "mac_addr",
    "schematic_id",
    "secureboot",
    "mtu",
)
_NO_VMS = (
    "the nodes have no `vm:` section, so stockman does not create their VMs; to change that, add "
    "`vm:` with vmid, host, cores, memory and disk_gb, and a Proxmox section"
)
_NOTES = (
    "nothing is published (`cloudflare_enabled: false`, or `dns.provider: none`) by default",
    _NO_VMS,
    "comments are not copied",
)
_SAN_PATHS: tuple[tuple[PatchScope, tuple[str, ...]], ...] = (
    ("all", ("machine", "certSANs")),
    ("controller", ("cluster", "apiServer", "certSANs")),
)


def adopt_cluster(
    foreign: ForeignCluster, *, to_toml: bool, values: Mapping[str, str], platform: Platform
) -> ConversionResult:
    """Return the files of the converted cluster; only problems if it could not be read.

    `given` maps paths to values that the other tool does not know, such as the gateways.
    """
    if foreign.problems.errors:
        return ConversionResult(problems=foreign.problems)
    return _Adoption(foreign, to_toml, platform).result(values)


class _Adoption:
    def __init__(self, foreign: ForeignCluster, to_toml: bool, platform: Platform) -> None:
        self._foreign = foreign
        self._to_toml = to_toml
        self._platform = platform
        self._building = foreign.building
        self._at = foreign.building.tree.at
        self._theirs: dict[str, Configuration] = {}
        self._links: dict[str, PlainLink | None] = {}
        self._notes = [*foreign.notes, *_NOTES]

    def result(self, values: Mapping[str, str]) -> ConversionResult:
        foreign = self._foreign
        self._merge_foreign_patches()
        if not foreign.problems.errors:
            self._add_cluster_keys(values)
        if foreign.problems.errors:
            return ConversionResult(problems=foreign.problems)
        for node in foreign.nodes:
            self._add_node(node)
        patches = self._trim_patches(self._base_documents())
        self._add_patches(patches)
        result = self._convert(self._building)
        for item in result.lost:
            foreign.record_lost(item)
        differs = self._differences()
        for first, second, path in order_differences(patches, foreign.order):
            foreign.problems.add(_order_problem(first, second, path))
        files = {
            BUNDLE_NAMES[self._to_toml] if name == BUNDLE else name: text
            for name, text in foreign.files.items()
        }
        return replace(
            result,
            files=result.files | files,
            notes=tuple(self._notes),
            carried=tuple(
                sorted(
                    (carried for known in foreign.outcomes.values() for carried in known),
                    key=self._reading_order,
                )
            ),
            differs=differs,
            problems=foreign.problems,
        )

    def _reading_order(self, carried: ConvertedKey) -> tuple[bool, str, int, int, str]:
        return (carried.at.file != self._at.file, *carried.at, carried.key)

    # --- keys -------------------------------------------------------------------------------

    def _merge_foreign_patches(self) -> None:
        foreign = self._foreign
        for node in foreign.nodes:
            try:
                base = merge_patches(node.base, node.extra, foreign.contract)
                merged = merge_patches(list(base.values()), node.patches, foreign.contract)
            except PatchRefused as error:
                foreign.problems.add(patch_problem(error, node.patches, foreign.contract))
            else:
                self._theirs[node.name] = merged

    def _add_cluster_keys(self, values: Mapping[str, str]) -> None:
        for path, text in values.items():
            self._put(path, text)
        api = self._text("kubernetes.api.addr")
        self._add_network(api)
        configurations = [self._theirs[node.name] for node in self._foreign.nodes]
        controllers = [
            self._theirs[node.name] for node in self._foreign.nodes if node.is_controller
        ]
        servers = machines.common_value(map(machines.name_servers, configurations))
        self._put_list("network.dns_servers", servers)
        self._put_list(
            "network.ntp_servers", machines.common_value(map(machines.time_servers, configurations))
        )
        domains = machines.common_domains(self._foreign.nodes, self._theirs, api)
        self._put_list("kubernetes.api.tls_sans", domains)
        for path, key in (("podSubnets", "pod_cidr"), ("serviceSubnets", "svc_cidr")):
            subnets = machines.common_value(
                machines.list_texts(machine, ("cluster", "network", path))
                for machine in configurations
            )
            if len(subnets) == 1:
                self._put(f"kubernetes.{key}", subnets[0])
            elif subnets:
                self._foreign.problems.add(_dual_stack_problem(path, subnets, self._at))
        for flag in machines.common_value(map(machines.scheduling, controllers)):
            value = new_scalar(flag, self._at, plain=True)
            path = "kubernetes.schedule_on_controllers"
            self._building.set_value(path, MappingEntry(value, value))
        self._put("dns.provider", "none")
        self._put("talos.platform", self._platform)
        if self._foreign.order == "talhelper":
            self._put("talos.patch_order", "talhelper")

    def _add_network(self, api: str) -> None:
        self._links = {node.name: plain_link(node, api) for node in self._foreign.nodes}
        shared = next((link.shared for link in self._links.values() if link is not None), None)
        if shared is not None:
            network, gateway, vlan = shared
            self._put("network.node_cidr", network)
            self._put("network.default_gateway", gateway)
            if vlan is not None:
                self._put("network.vlan_tag", str(vlan))
        for node in self._foreign.nodes:
            link = self._links[node.name]
            if link is not None and link.shared != shared:
                self._links[node.name] = None
            network, gateway = find_network(self._theirs[node.name], node.address)
            if network:
                self._put("network.node_cidr", network)
            if gateway:
                self._put("network.default_gateway", gateway)

    def _add_node(self, node: ForeignNode) -> None:
        link = self._links[node.name]
        mac = link.mac if link is not None else (node.mac or any_mac(node))
        if mac:
            put_value(node.keys, "mac_addr", text_entry(mac, node.devices_at))
        if link is not None and link.mtu != _USUAL_MTU:
            number = new_scalar(str(link.mtu), node.devices_at, plain=True)
            put_value(node.keys, "mtu", MappingEntry(number, number, name="mtu"))
        disk = machines.install_disk(self._theirs[node.name])
        if disk:
            put_value(node.keys, "disk", text_entry(disk, node.at))
        known = [key for key in _KEY_ORDER if key in node.keys.entries]
        unordered = [key for key in node.keys.entries if key not in known]
        node.keys.entries = {key: node.keys.entries[key] for key in (*known, *unordered)}
        key = new_scalar("nodes", node.at)
        self._building.append("nodes", node.keys, key)

    def _put(self, path: str, text: str) -> None:
        self._building.set_value(path, text_entry(text, self._at, path))

    def _put_list(self, path: str, texts: Iterable[str]) -> None:
        value = build_node(list(texts), self._at)
        if isinstance(value, SequenceNode) and value.items:
            key = new_scalar(path, self._at)
            self._building.set_value(path, MappingEntry(key, value, name=path))

    def _text(self, path: str) -> str:
        node: object = self._building.tree
        for step in path.split("."):
            node = node.get(step) if isinstance(node, MappingNode) else None
        return node.text if isinstance(node, ScalarNode) else ""

    # --- patches ----------------------------------------------------------------------------

    def _base_documents(self) -> dict[str, list[Document]]:
        desired = self._load_desired()
        if not isinstance(desired, Desired):
            return {}
        return {node.name: base_documents(desired, node) for node in desired.nodes}

    def _load_desired(self) -> Desired | Problem:
        """Return what the files mean so far, with placeholders for values only the user knows."""
        building = deepcopy(self._building)
        fill_placeholders(
            building, {node.address for node in self._foreign.nodes} | set(self._addresses())
        )
        desired = load_desired(self._convert(building).files)
        cluster = desired.cluster if isinstance(desired, Desired) else None
        if cluster is not None and cluster.talos.contract.minor_text != self._foreign.contract:
            return _contract_problem(self._foreign.contract, cluster.talos.contract.minor_text)
        return desired

    def _addresses(self) -> list[str]:
        paths = ("kubernetes.api.addr", "network.default_gateway", "gateways.external")
        return [self._text(path) for path in paths]

    def _convert(self, building: ConfigDraft) -> ConversionResult:
        comments = dict.fromkeys(source_files(building.tree), NO_COMMENTS)
        return finish_conversion(
            building, NO_COMMENTS, to_toml=self._to_toml, other_comments=comments
        )

    def _trim_patches(self, ours: Mapping[str, list[Document]]) -> dict[str, list[ForeignPatch]]:
        foreign = self._foreign
        bases: dict[str, Configuration] = {}
        for node in foreign.nodes:
            base = merge_patches(ours.get(node.name, ()), (), foreign.contract) if ours else {}
            if ours:
                bases[node.name] = base
            link, theirs = self._links[node.name], self._theirs[node.name]
            node.extra = [
                *link_patches(node, link, theirs, base),
                *node.extra,
                *(_missing_san_patches(node, base) if ours else ()),
            ]
        return PatchTrimmer(foreign, self._theirs if bases else {}, bases).trim(foreign.nodes)

    def _add_patches(self, patches: Mapping[str, list[ForeignPatch]]) -> None:
        foreign = self._foreign
        names = {node.name for node in foreign.nodes}
        controllers = {node.name for node in foreign.nodes if node.is_controller}
        members: dict[PatchScope, set[str]] = {
            "all": names,
            "controller": controllers,
            "worker": names - controllers,
            "node": set(),
        }
        levels = assign_levels(patches, members, foreign.order)
        done = set()
        for node in foreign.nodes:
            for patch in patches[node.name]:
                level = levels[patch_source(patch)]
                if level == "node":
                    _append_patch(node.keys, "talos.patches", patch)
                elif patch_source(patch) not in done:
                    done.add(patch_source(patch))
                    _append_patch(self._building.tree, f"talos.patches.{level}", patch)

    # --- what differs -----------------------------------------------------------------------

    def _differences(self) -> tuple[MachineDifference, ...]:
        desired = self._load_desired()
        if isinstance(desired, Problem):
            self._notes.append(f"machines were not compared: {desired.what} ({desired.why})")
            return ()
        ours: dict[str, Configuration] = {}
        for node in desired.nodes:
            try:
                ours[node.name] = node_configuration(desired, node, self._foreign.contract)
            except PatchRefused as error:
                self._foreign.problems.add(error.problem)
        differs = differences(self._theirs, ours)
        self._warn_of_installers(differs)
        return differs

    def _warn_of_installers(self, differs: tuple[MachineDifference, ...]) -> None:
        """Warn about machines whose installer no longer matches their platform."""
        changed = [
            difference
            for difference in differs
            if difference.what == _IMAGE
            and _platform_of(difference.before) == "metal" != _platform_of(difference.after)
        ]
        names = [name for difference in changed for name in difference.nodes]
        positions = [node.installer_at for node in self._foreign.nodes if node.name in names]
        if positions:
            self._foreign.problems.add(_variables_problem(names, positions[0]))


def _missing_san_patches(node: ForeignNode, ours: Configuration) -> list[ForeignPatch]:
    """Return patches for the certificate SANs that no key can express."""
    patches = []
    for number, (scope, path) in enumerate(_SAN_PATHS):
        desired = machines.list_texts(machines.configuration_of(node.base), path)
        known = machines.list_texts(ours, path)
        missing = [name for name in dict.fromkeys(desired) if name not in known]
        if missing:
            document = nest_value(".".join(path), build_node(missing, node.at), node.at)
            patches.append(
                ForeignPatch(f"names in {'.'.join(path)}", scope, (-3, number), document)
            )
    return patches


def _append_patch(tree: MappingNode, path: str, patch: ForeignPatch) -> None:
    node: object = tree
    for step in path.split("."):
        node = node.get(step) if isinstance(node, MappingNode) else None
    if isinstance(node, SequenceNode):
        node.items.append(deepcopy(patch.document))
        return
    key = new_scalar(path, patch.at)
    put_value(
        tree, path, MappingEntry(key, SequenceNode(patch.at, [deepcopy(patch.document)]), name=path)
    )


def _platform_of(reference: str) -> str:
    """Return the platform of an installer; old references without a platform mean metal."""
    name = reference.split("/")[1] if reference.count("/") > 1 else ""
    return name.partition("-")[0] if name.partition("-")[2].startswith("installer") else "metal"


def _contract_problem(theirs: str, ours: str) -> Problem:
    return Problem(
        code="config.unresolved",
        what="the contract of the machines differs",
        why=f"it is {theirs} in the other tool and {ours} here",
        fix="set the contract to that of the machines",
    )


def _dual_stack_problem(path: str, subnets: Iterable[str], at: Position) -> Problem:
    return Problem(
        code="import.dual-stack",
        what="the cluster uses IPv4 and IPv6, and stockman configures IPv4 only",
        where=at,
        why=f"{path} are {', '.join(subnets)}; pods and services would lose a network",
        fix="keep the cluster with your current tool, or change it to IPv4 first",
    )


def _order_problem(first: ForeignPatch, second: ForeignPatch, path: str) -> Problem:
    return Problem(
        code="import.patch-order",
        what=f"both {first.label} and {second.label} set {path}",
        where=first.at,
        why="talhelper applies patches for all nodes last, so the second wins; with the patch "
        "order of stockman the first would win",
        fix="set it only once, and remove `patch_order: talhelper` when no such pair is left",
        severity=Severity.WARNING,
    )


def _variables_problem(names: list[str], at: Position) -> Problem:
    return Problem(
        code="import.metal-installer",
        what=f"{', '.join(names)}: the installer for metal becomes the installer for nocloud",
        where=at,
        why="a machine that booted a nocloud image loses its network with the metal installer",
        fix="pass `--platform metal` if the machines booted a metal image",
        severity=Severity.WARNING,
    )


_REASONS: tuple[tuple[str, str], ...] = (
    ("LinkAliasConfig", "the node's link is named net0 and selected by its permanent MAC address"),
    ("LinkConfig", "the node's link is named net0, is up, and has an MTU"),
    ("VLANConfig", "the node's link is named net0, is up, and has an MTU"),
    ("Layer2VIPConfig", "the node's link is named net0"),
    ("ResolverConfig", "name servers are set, and no search domain"),
    ("TimeSyncConfig", "time servers are always set"),
    ("HostnameConfig", "the hostname is the node's name"),
    ("v1alpha1 machine.install.image", "the installer follows from platform and schematic"),
    ("v1alpha1 machine.install.diskSelector.serial", "any serial number matches"),
    ("v1alpha1 machine.certSANs", "the API address is a SAN of every machine"),
    ("v1alpha1 cluster.apiServer.certSANs", "the API address is a SAN of the API server"),
    ("v1alpha1 machine.kubelet.nodeIP", "nodes use an address of the node network"),
    ("v1alpha1 cluster.etcd.advertisedSubnets", "etcd uses an address of the node network"),
    ("v1alpha1 cluster.network.cni", "Cilium is the CNI"),
    ("v1alpha1 cluster.proxy.disabled", "Cilium replaces kube-proxy"),
    ("v1alpha1 cluster.coreDNS.disabled", "the catalog installs CoreDNS"),
    ("v1alpha1 cluster.allowSchedulingOnControlPlanes", "it is always set"),
    ("v1alpha1 machine.network", "links, name servers and search domains have keys"),
    ("v1alpha1 machine.time", "time servers have a key"),
    ("v1alpha1 machine.nodeLabels", "controllers keep the label that Talos sets"),
    ("v1alpha1 cluster.network", "there is one pod network and one service network"),
    ("v1alpha1 cluster.controlPlane.endpoint", "the endpoint is the API address"),
)
_OTHER_REASON = "it was left out or changed, see above"


def differences(
    theirs: Mapping[str, Configuration], ours: Mapping[str, Configuration]
) -> tuple[MachineDifference, ...]:
    """Return every value that differs, with the nodes where it differs."""
    nodes_by_change: dict[tuple[str, str, str], list[str]] = {}
    for node, before in theirs.items():
        after = ours.get(node)
        if after is None:
            continue
        for what, old, new in compare_configurations(before, after):
            nodes_by_change.setdefault((what, old, new), []).append(node)
    return tuple(
        MachineDifference(
            nodes=tuple(nodes), what=what, before=before, after=after, why=difference_reason(what)
        )
        for (what, before, after), nodes in nodes_by_change.items()
    )


def compare_configurations(
    theirs: Configuration, ours: Configuration
) -> Iterator[tuple[str, str, str]]:
    """Yield the label of every difference between two configurations, with both values."""
    for document in sorted(theirs.keys() | ours.keys()):
        label = " ".join(filter(None, document))
        before, after = theirs.get(document), ours.get(document)
        if before is None or after is None:
            yield label, _document_label(before), _document_label(after)
        else:
            yield from _compare_values(before, after, label, ())


def _compare_values(
    before: object, after: object, label: str, path: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    if isinstance(before, dict) or isinstance(after, dict):
        before, after = as_mapping(before), as_mapping(after)
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _compare_values(before.get(key), after.get(key), label, (*path, key))
    elif path[-1:] in (("certSANs",), ("certExtraSANs",)):
        if set(as_texts(before)) != set(as_texts(after)):
            yield f"{label} {'.'.join(path)}", _text(before), _text(after)
    elif before != after:
        yield f"{label} {'.'.join(path)}", _text(before), _text(after)


def difference_reason(what: str) -> str:
    """Return why machines differ in a value."""
    return next((why for start, why in _REASONS if what.startswith(start)), _OTHER_REASON)


def order_differences(
    patches: Mapping[str, list[ForeignPatch]], order: PatchOrder
) -> Iterator[tuple[ForeignPatch, ForeignPatch, str]]:
    """Yield pairs of patches where our order changes which one wins, and the path."""
    if order != "talhelper":
        return
    seen = set()
    for node_patches in patches.values():
        for index, first in enumerate(node_patches):
            for second in node_patches[index + 1 :]:
                if second.scope != "all" or first.scope == "all" or first.index[0] < 0:
                    continue
                for path in shared_paths(first, second):
                    key = (first.label, second.label, path)
                    if key not in seen:
                        seen.add(key)
                        yield first, second, path


def _document_label(document: object) -> str:
    return "" if document is None else "present"


def _text(value: object) -> str:
    import json

    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_REPOSITORY = "https://github.com/example/example"
_SPARE_ADDRESSES = 8


def fill_placeholders(building: ConfigDraft, taken: set[str]) -> None:
    """Fill the gaps of a configuration; existing values stay."""
    at = building.tree.at
    network = building.tree.get("network")
    cidr = network.get("node_cidr") if isinstance(network, MappingNode) else None
    free = _free_addresses(cidr.text, taken) if isinstance(cidr, ScalarNode) else []
    for path, text in zip(("gateways.internal", "gateways.dns"), free, strict=False):
        building.set_value(path, text_entry(text, at))
    building.set_value("repository.url", text_entry(_REPOSITORY, at))
    nodes = building.tree.get("nodes")
    for index, node in enumerate(nodes.items if isinstance(nodes, SequenceNode) else []):
        if isinstance(node, MappingNode):
            mac = f"02:00:00:00:{index // 256:02x}:{index % 256:02x}"
            put_value(node, "mac_addr", text_entry(mac, at))


def _free_addresses(cidr: str, taken: set[str]) -> list[str]:
    """Return unused addresses at the end of a network."""
    try:
        network = IPv4Network(cidr, strict=False)
    except ValueError:
        return []
    last = int(network.broadcast_address) - 1
    first = max(int(network.network_address) + 1, last - len(taken) - _SPARE_ADDRESSES)
    texts = [str(network[number - int(network.network_address)]) for number in range(first, last)]
    return [text for text in reversed(texts) if text not in taken]
