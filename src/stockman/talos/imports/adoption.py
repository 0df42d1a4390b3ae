"""A cluster of another tool as our files, with a report of everything that is not the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Literal

from stockman.config.convert.draft import ConfigDraft, put_value
from stockman.config.convert.finish import NO_COMMENTS, finish_conversion
from stockman.config.convert.result import ConversionResult, ConvertedKey, MachineDifference
from stockman.config.source.tree import MappingEntry, ScalarNode, SequenceNode
from stockman.config.source.tree import MappingNode as Tree
from stockman.model.desired import Desired
from stockman.model.origin import Position
from stockman.model.problem import Problem, Severity
from stockman.talos.imports import configurations as machines
from stockman.talos.imports.comparison import differences, order_differences
from stockman.talos.imports.configurations import (
    Configuration,
    base_documents,
    load_desired,
    merge_patches,
    node_configuration,
    patch_problem,
)
from stockman.talos.imports.files import BUNDLE, BUNDLE_NAMES
from stockman.talos.imports.foreign import (
    ForeignCluster,
    ForeignNode,
    ForeignPatch,
    PatchScope,
    build_node,
    nest_value,
    source_files,
)
from stockman.talos.imports.network import (
    PlainLink,
    any_mac,
    find_network,
    link_patches,
    plain_link,
)
from stockman.talos.imports.patches import PatchTrimmer, assign_levels, patch_source
from stockman.talos.imports.placeholders import fill_placeholders
from stockman.talos.machine.inputs import Document
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
    "nodes have no `vm:` and stockman does not make them; add `vm:` with vmid, host, cores, memory "
    "and disk_gb, and a Proxmox section, if it is to"
)
_NOTES = (
    "nothing is published (`cloudflare_enabled: false`, or `dns.provider: none`) until you say how",
    _NO_VMS,
    "comments are not carried",
)
_SAN_PATHS: tuple[tuple[PatchScope, tuple[str, ...]], ...] = (
    ("all", ("machine", "certSANs")),
    ("controller", ("cluster", "apiServer", "certSANs")),
)


def adopt_cluster(
    foreign: ForeignCluster, *, to_toml: bool, given: Mapping[str, str], platform: Platform
) -> ConversionResult:
    """The files of a cluster; only problems where it could not be read.

    `given` are values by their paths that the other tool does not know, such as the gateways.
    """
    if foreign.problems.errors:
        return ConversionResult(problems=foreign.problems)
    return _Adoption(foreign, to_toml, platform).result(given)


class _Adoption:
    def __init__(self, foreign: ForeignCluster, to_toml: bool, platform: Platform) -> None:
        self._foreign = foreign
        self._to_toml = to_toml
        self._platform = platform
        self._building = foreign.building
        self._at = foreign.building.whole.at
        self._theirs: dict[str, Configuration] = {}
        self._links: dict[str, PlainLink | None] = {}
        self._notes = [*foreign.notes, *_NOTES]

    def result(self, given: Mapping[str, str]) -> ConversionResult:
        foreign = self._foreign
        self._merge_theirs()
        if foreign.problems.errors:
            return ConversionResult(problems=foreign.problems)
        self._cluster(given)
        for node in foreign.nodes:
            self._node(node)
        pieces = self._pieces(self._our_bases())
        self._put_patches(pieces)
        result = self._converted(self._building)
        differs = self._differences()
        for first, second, place in order_differences(pieces, foreign.order):
            foreign.problems.add(_order_problem(first, second, place))
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
                    (one for known in foreign.said.values() for one in known),
                    key=self._reading_order,
                )
            ),
            differs=differs,
            problems=foreign.problems,
        )

    def _reading_order(self, one: ConvertedKey) -> tuple[bool, str, int, int, str]:
        return (one.at.file != self._at.file, *one.at, one.key)

    # --- keys -------------------------------------------------------------------------------

    def _merge_theirs(self) -> None:
        foreign = self._foreign
        for node in foreign.nodes:
            try:
                base = merge_patches(node.base, node.extra, foreign.contract)
                found = merge_patches(list(base.values()), node.pieces, foreign.contract)
            except PatchRefused as refused:
                foreign.problems.add(patch_problem(refused, node.pieces, foreign.contract))
            else:
                self._theirs[node.name] = found

    def _cluster(self, given: Mapping[str, str]) -> None:
        for path, text in given.items():
            self._put(path, text)
        api = self._text("kubernetes.api.addr")
        self._network(api)
        every = [self._theirs[node.name] for node in self._foreign.nodes]
        controllers = [
            self._theirs[node.name] for node in self._foreign.nodes if node.is_controller
        ]
        servers = machines.common_value(map(machines.name_servers, every))
        self._put_list("network.dns_servers", servers)
        self._put_list(
            "network.ntp_servers", machines.common_value(map(machines.time_servers, every))
        )
        names = machines.common_domains(self._foreign.nodes, self._theirs, api)
        self._put_list("kubernetes.api.tls_sans", names)
        for path, key in (("podSubnets", "pod_cidr"), ("serviceSubnets", "svc_cidr")):
            found = machines.common_value(
                machines.list_texts(one, ("cluster", "network", path)) for one in every
            )
            if len(found) == 1:
                self._put(f"kubernetes.{key}", found[0])
        for flag in machines.common_value(map(machines.scheduling, controllers)):
            value = ScalarNode(flag, self._at, plain=True, span=(0, 0))
            self._building.put("kubernetes.schedule_on_controllers", MappingEntry(value, value))
        self._put("dns.provider", "none")
        self._put("talos.platform", self._platform)
        if self._foreign.order == "talhelper":
            self._put("talos.patch_order", "talhelper")

    def _network(self, api: str) -> None:
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

    def _node(self, node: ForeignNode) -> None:
        link = self._links[node.name]
        mac = link.mac if link is not None else (node.mac or any_mac(node))
        if mac:
            put_value(node.keys, "mac_addr", _entry(mac, node.devices_at))
        if link is not None and link.mtu != _USUAL_MTU:
            number = ScalarNode(str(link.mtu), node.devices_at, plain=True, span=(0, 0))
            put_value(node.keys, "mtu", MappingEntry(number, number, name="mtu"))
        disk = machines.install_disk(self._theirs[node.name])
        if disk:
            put_value(node.keys, "disk", _entry(disk, node.at))
        known = [key for key in _KEY_ORDER if key in node.keys.entries]
        others = [key for key in node.keys.entries if key not in known]
        node.keys.entries = {key: node.keys.entries[key] for key in (*known, *others)}
        key = ScalarNode("nodes", node.at, plain=False, span=(0, 0))
        self._building.append("nodes", node.keys, key)

    def _put(self, path: str, text: str) -> None:
        self._building.put(path, _entry(text, self._at, path))

    def _put_list(self, path: str, texts: Iterable[str]) -> None:
        value = build_node(list(texts), self._at)
        if isinstance(value, SequenceNode) and value.items:
            key = ScalarNode(path, self._at, plain=False, span=(0, 0))
            self._building.put(path, MappingEntry(key, value, name=path))

    def _text(self, path: str) -> str:
        node: object = self._building.whole
        for step in path.split("."):
            node = node.get(step) if isinstance(node, Tree) else None
        return node.text if isinstance(node, ScalarNode) else ""

    # --- patches ----------------------------------------------------------------------------

    def _our_bases(self) -> dict[str, list[Document]]:
        desired = self._desired()
        if not isinstance(desired, Desired):
            return {}
        return {node.name: base_documents(desired, node) for node in desired.nodes}

    def _desired(self) -> Desired | Problem:
        """What the files mean so far, with stand-ins for what only the user knows."""
        filled = deepcopy(self._building)
        fill_placeholders(
            filled, {node.address for node in self._foreign.nodes} | set(self._addresses())
        )
        found = load_desired(self._converted(filled).files)
        cluster = found.cluster if isinstance(found, Desired) else None
        if cluster is not None and cluster.talos.contract.minor_text != self._foreign.contract:
            return _contract_problem(self._foreign.contract, cluster.talos.contract.minor_text)
        return found

    def _addresses(self) -> list[str]:
        paths = ("kubernetes.api.addr", "network.default_gateway", "gateways.external")
        return [self._text(path) for path in paths]

    def _converted(self, building: ConfigDraft) -> ConversionResult:
        others = dict.fromkeys(source_files(building.whole), NO_COMMENTS)
        return finish_conversion(building, NO_COMMENTS, to_toml=self._to_toml, other_comments=others)

    def _pieces(self, ours: Mapping[str, list[Document]]) -> dict[str, list[ForeignPatch]]:
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
        return PatchTrimmer(foreign, self._theirs if bases else {}, bases).trimmed(foreign.nodes)

    def _put_patches(self, pieces: Mapping[str, list[ForeignPatch]]) -> None:
        foreign = self._foreign
        names = {node.name for node in foreign.nodes}
        controllers = {node.name for node in foreign.nodes if node.is_controller}
        members: dict[PatchScope, set[str]] = {
            "all": names,
            "controller": controllers,
            "worker": names - controllers,
            "node": set(),
        }
        placed = assign_levels(pieces, members, foreign.order)
        done = set()
        for node in foreign.nodes:
            for piece in pieces[node.name]:
                level = placed[patch_source(piece)]
                if level == "node":
                    _append_patch(node.keys, "talos.patches", piece)
                elif patch_source(piece) not in done:
                    done.add(patch_source(piece))
                    _append_patch(self._building.whole, f"talos.patches.{level}", piece)

    # --- what differs -----------------------------------------------------------------------

    def _differences(self) -> tuple[MachineDifference, ...]:
        desired = self._desired()
        if isinstance(desired, Problem):
            self._notes.append(f"machines are not compared: {desired.what} ({desired.why})")
            return ()
        ours: dict[str, Configuration] = {}
        for node in desired.nodes:
            try:
                ours[node.name] = node_configuration(desired, node, self._foreign.contract)
            except PatchRefused as refused:
                self._foreign.problems.add(refused.problem)
        found = differences(self._theirs, ours)
        self._warn_of_installers(found)
        return found

    def _warn_of_installers(self, found: tuple[MachineDifference, ...]) -> None:
        """Tell of machines whose installer is not that of their platform any more."""
        changed = [
            one
            for one in found
            if one.what == _IMAGE and _platform_of(one.before) == "metal" != _platform_of(one.after)
        ]
        names = [name for one in changed for name in one.nodes]
        places = [node.installer_at for node in self._foreign.nodes if node.name in names]
        if places:
            self._foreign.problems.add(_variables_problem(names, places[0]))


def _missing_san_patches(node: ForeignNode, ours: Configuration) -> list[ForeignPatch]:
    """Names of certificates that only a patch can give."""
    found = []
    for number, (scope, path) in enumerate(_SAN_PATHS):
        wanted = machines.list_texts(machines.configuration_of(node.base), path)
        known = machines.list_texts(ours, path)
        missing = [name for name in dict.fromkeys(wanted) if name not in known]
        if missing:
            whole = nest_value(".".join(path), build_node(missing, node.at), node.at)
            found.append(ForeignPatch(f"names in {'.'.join(path)}", scope, (-3, number), whole))
    return found


def _append_patch(whole: Tree, path: str, piece: ForeignPatch) -> None:
    node: object = whole
    for step in path.split("."):
        node = node.get(step) if isinstance(node, Tree) else None
    if isinstance(node, SequenceNode):
        node.items.append(deepcopy(piece.document))
        return
    key = ScalarNode(path, piece.at, plain=False, span=(0, 0))
    put_value(
        whole,
        path,
        MappingEntry(key, SequenceNode(piece.at, [deepcopy(piece.document)]), name=path),
    )


def _entry(text: str, at: Position, name: str = "") -> MappingEntry:
    value = ScalarNode(text, at, plain=False, span=(0, 0))
    return MappingEntry(value, value, name=name)


def _platform_of(reference: str) -> str:
    """The platform of an installer; before platforms had their own, it was metal."""
    name = reference.split("/")[1] if reference.count("/") > 1 else ""
    return name.partition("-")[0] if name.partition("-")[2].startswith("installer") else "metal"


def _contract_problem(theirs: str, ours: str) -> Problem:
    return Problem(
        code="config.unresolved",
        what="the style of machines is another one",
        why=f"it is {theirs} there and {ours} here",
        fix="set the contract to that of the machines",
    )


def _order_problem(first: ForeignPatch, second: ForeignPatch, place: str) -> Problem:
    return Problem(
        code="import.patch-order",
        what=f"{place} is said by {first.label} and by {second.label}",
        where=first.at,
        why="talhelper applies patches of all nodes last, so the second wins; in the order of "
        "stockman the first would",
        fix="say it once, and remove `patch_order: talhelper` when no such pair is left",
        severity=Severity.WARNING,
    )


def _variables_problem(names: list[str], at: Position) -> Problem:
    return Problem(
        code="import.metal-installer",
        what=f"{', '.join(names)}: the installer for metal becomes that for nocloud",
        where=at,
        why="a machine that booted a nocloud image loses its network with the installer for metal",
        fix="give `--platform metal` if the machines booted a metal image",
        severity=Severity.WARNING,
    )
