"""A cluster of another tool as our files, with a report of everything that is not the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Literal

from stockman.config.convert.building import Building, put_into
from stockman.config.convert.foreign import NO_COMMENTS, converted
from stockman.config.convert.result import Carried, Converted, Differs
from stockman.config.source.tree import Entry, Scalar, Sequence
from stockman.config.source.tree import Mapping as Tree
from stockman.model.desired import Desired
from stockman.model.origin import Position
from stockman.model.problem import Problem, Severity
from stockman.talos.imports import agreed as machines
from stockman.talos.imports.bundles import BUNDLE, NAMES
from stockman.talos.imports.comparing import differences, order_differences
from stockman.talos.imports.configurations import (
    Configuration,
    desired_of,
    merged,
    our_base,
    our_configuration,
    refusal,
)
from stockman.talos.imports.foreign import (
    Foreign,
    ForeignNode,
    Piece,
    Scope,
    files_of,
    made,
    nested,
)
from stockman.talos.imports.levels import levels, source
from stockman.talos.imports.network import Link, any_mac, network_of, plain_link
from stockman.talos.imports.replaced_links import replaced_links
from stockman.talos.imports.standing_in import stand_in
from stockman.talos.imports.trimming import Trimmer
from stockman.talos.machine.facts import Document
from stockman.talos.patches.problems import PatchRefused

Platform = Literal["nocloud", "metal"]

_IMAGE = "v1alpha1 machine.install.image"
_USUAL_MTU = 1500
_ORDER = ("name", "address", "controller", "disk", "mac_addr", "schematic_id", "secureboot", "mtu")
_NO_VMS = (
    "nodes have no `vm:` and stockman does not make them; add `vm:` with vmid, host, cores, memory "
    "and disk_gb, and a Proxmox section, if it is to"
)
_NOTES = (
    "nothing is published (`cloudflare_enabled: false`, or `dns.provider: none`) until you say how",
    _NO_VMS,
    "comments are not carried",
)
_NAMES: tuple[tuple[Scope, tuple[str, ...]], ...] = (
    ("all", ("machine", "certSANs")),
    ("controller", ("cluster", "apiServer", "certSANs")),
)


def adopted(
    foreign: Foreign, *, to_toml: bool, given: Mapping[str, str], platform: Platform
) -> Converted:
    """The files of a cluster; only problems where it could not be read.

    `given` are values by their paths that the other tool does not know, such as the gateways.
    """
    if foreign.problems.errors:
        return Converted(problems=foreign.problems)
    return _Adoption(foreign, to_toml, platform).result(given)


class _Adoption:
    def __init__(self, foreign: Foreign, to_toml: bool, platform: Platform) -> None:
        self._foreign = foreign
        self._to_toml = to_toml
        self._platform = platform
        self._building = foreign.building
        self._at = foreign.building.whole.at
        self._theirs: dict[str, Configuration] = {}
        self._links: dict[str, Link | None] = {}
        self._notes = [*foreign.notes, *_NOTES]

    def result(self, given: Mapping[str, str]) -> Converted:
        foreign = self._foreign
        self._merge_theirs()
        if foreign.problems.errors:
            return Converted(problems=foreign.problems)
        self._cluster(given)
        for node in foreign.nodes:
            self._node(node)
        pieces = self._pieces(self._our_bases())
        self._put_patches(pieces)
        result = self._converted(self._building)
        differs = self._differences()
        for first, second, place in order_differences(pieces, foreign.order):
            foreign.problems.add(_order(first, second, place))
        files = {
            NAMES[self._to_toml] if name == BUNDLE else name: text
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

    def _reading_order(self, one: Carried) -> tuple[bool, str, int, int, str]:
        return (one.at.file != self._at.file, *one.at, one.key)

    # --- keys -------------------------------------------------------------------------------

    def _merge_theirs(self) -> None:
        foreign = self._foreign
        for node in foreign.nodes:
            try:
                base = merged(node.base, node.extra, foreign.contract)
                found = merged(list(base.values()), node.pieces, foreign.contract)
            except PatchRefused as refused:
                foreign.problems.add(refusal(refused, node.pieces, foreign.contract))
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
        servers = machines.agreed(map(machines.name_servers, every))
        self._put_list("network.dns_servers", servers)
        self._put_list("network.ntp_servers", machines.agreed(map(machines.time_servers, every)))
        names = machines.domains(self._foreign.nodes, self._theirs, api)
        self._put_list("kubernetes.api.tls_sans", names)
        for path, key in (("podSubnets", "pod_cidr"), ("serviceSubnets", "svc_cidr")):
            found = machines.agreed(
                machines.listed(one, ("cluster", "network", path)) for one in every
            )
            if len(found) == 1:
                self._put(f"kubernetes.{key}", found[0])
        for flag in machines.agreed(map(machines.scheduling, controllers)):
            value = Scalar(flag, self._at, plain=True, span=(0, 0))
            self._building.put("kubernetes.schedule_on_controllers", Entry(value, value))
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
            network, gateway = network_of(self._theirs[node.name], node.address)
            if network:
                self._put("network.node_cidr", network)
            if gateway:
                self._put("network.default_gateway", gateway)

    def _node(self, node: ForeignNode) -> None:
        link = self._links[node.name]
        mac = link.mac if link is not None else (node.mac or any_mac(node))
        if mac:
            put_into(node.keys, "mac_addr", _entry(mac, node.devices_at))
        if link is not None and link.mtu != _USUAL_MTU:
            number = Scalar(str(link.mtu), node.devices_at, plain=True, span=(0, 0))
            put_into(node.keys, "mtu", Entry(number, number, name="mtu"))
        disk = machines.install_disk(self._theirs[node.name])
        if disk:
            put_into(node.keys, "disk", _entry(disk, node.at))
        known = [key for key in _ORDER if key in node.keys.entries]
        others = [key for key in node.keys.entries if key not in known]
        node.keys.entries = {key: node.keys.entries[key] for key in (*known, *others)}
        key = Scalar("nodes", node.at, plain=False, span=(0, 0))
        self._building.append("nodes", node.keys, key)

    def _put(self, path: str, text: str) -> None:
        self._building.put(path, _entry(text, self._at, path))

    def _put_list(self, path: str, texts: Iterable[str]) -> None:
        value = made(list(texts), self._at)
        if isinstance(value, Sequence) and value.items:
            key = Scalar(path, self._at, plain=False, span=(0, 0))
            self._building.put(path, Entry(key, value, name=path))

    def _text(self, path: str) -> str:
        node: object = self._building.whole
        for step in path.split("."):
            node = node.get(step) if isinstance(node, Tree) else None
        return node.text if isinstance(node, Scalar) else ""

    # --- patches ----------------------------------------------------------------------------

    def _our_bases(self) -> dict[str, list[Document]]:
        desired = self._desired()
        if not isinstance(desired, Desired):
            return {}
        return {node.name: our_base(desired, node) for node in desired.nodes}

    def _desired(self) -> Desired | Problem:
        """What the files mean so far, with stand-ins for what only the user knows."""
        filled = deepcopy(self._building)
        stand_in(filled, {node.address for node in self._foreign.nodes} | set(self._addresses()))
        found = desired_of(self._converted(filled).files)
        cluster = found.cluster if isinstance(found, Desired) else None
        if cluster is not None and cluster.talos.contract.minor_text != self._foreign.contract:
            return _another_style(self._foreign.contract, cluster.talos.contract.minor_text)
        return found

    def _addresses(self) -> list[str]:
        paths = ("kubernetes.api.addr", "network.default_gateway", "gateways.external")
        return [self._text(path) for path in paths]

    def _converted(self, building: Building) -> Converted:
        others = dict.fromkeys(files_of(building.whole), NO_COMMENTS)
        return converted(building, NO_COMMENTS, to_toml=self._to_toml, others=others)

    def _pieces(self, ours: Mapping[str, list[Document]]) -> dict[str, list[Piece]]:
        foreign = self._foreign
        bases: dict[str, Configuration] = {}
        for node in foreign.nodes:
            base = merged(ours.get(node.name, ()), (), foreign.contract) if ours else {}
            if ours:
                bases[node.name] = base
            link, theirs = self._links[node.name], self._theirs[node.name]
            node.extra = [
                *replaced_links(node, link, theirs, base),
                *node.extra,
                *(_missing_names(node, base) if ours else ()),
            ]
        return Trimmer(foreign, self._theirs if bases else {}, bases).trimmed(foreign.nodes)

    def _put_patches(self, pieces: Mapping[str, list[Piece]]) -> None:
        foreign = self._foreign
        names = {node.name for node in foreign.nodes}
        controllers = {node.name for node in foreign.nodes if node.is_controller}
        members: dict[Scope, set[str]] = {
            "all": names,
            "controller": controllers,
            "worker": names - controllers,
            "node": set(),
        }
        placed = levels(pieces, members, foreign.order)
        done = set()
        for node in foreign.nodes:
            for piece in pieces[node.name]:
                level = placed[source(piece)]
                if level == "node":
                    _append(node.keys, "talos.patches", piece)
                elif source(piece) not in done:
                    done.add(source(piece))
                    _append(self._building.whole, f"talos.patches.{level}", piece)

    # --- what differs -----------------------------------------------------------------------

    def _differences(self) -> tuple[Differs, ...]:
        desired = self._desired()
        if isinstance(desired, Problem):
            self._notes.append(f"machines are not compared: {desired.what} ({desired.why})")
            return ()
        ours: dict[str, Configuration] = {}
        for node in desired.nodes:
            try:
                ours[node.name] = our_configuration(desired, node, self._foreign.contract)
            except PatchRefused as refused:
                self._foreign.problems.add(refused.problem)
        found = differences(self._theirs, ours)
        self._warn_of_installers(found)
        return found

    def _warn_of_installers(self, found: tuple[Differs, ...]) -> None:
        """Tell of machines whose installer is not that of their platform any more."""
        changed = [
            one
            for one in found
            if one.what == _IMAGE and _platform_of(one.before) == "metal" != _platform_of(one.after)
        ]
        names = [name for one in changed for name in one.nodes]
        places = [node.installer_at for node in self._foreign.nodes if node.name in names]
        if places:
            self._foreign.problems.add(_rewritten(names, places[0]))


def _missing_names(node: ForeignNode, ours: Configuration) -> list[Piece]:
    """Names of certificates that only a patch can give."""
    found = []
    for number, (scope, path) in enumerate(_NAMES):
        wanted = machines.listed(machines.configuration_of(node.base), path)
        known = machines.listed(ours, path)
        missing = [name for name in dict.fromkeys(wanted) if name not in known]
        if missing:
            whole = nested(".".join(path), made(missing, node.at), node.at)
            found.append(Piece(f"names in {'.'.join(path)}", scope, (-3, number), whole))
    return found


def _append(whole: Tree, path: str, piece: Piece) -> None:
    node: object = whole
    for step in path.split("."):
        node = node.get(step) if isinstance(node, Tree) else None
    if isinstance(node, Sequence):
        node.items.append(deepcopy(piece.document))
        return
    key = Scalar(path, piece.at, plain=False, span=(0, 0))
    put_into(whole, path, Entry(key, Sequence(piece.at, [deepcopy(piece.document)]), name=path))


def _entry(text: str, at: Position, name: str = "") -> Entry:
    value = Scalar(text, at, plain=False, span=(0, 0))
    return Entry(value, value, name=name)


def _platform_of(reference: str) -> str:
    """The platform of an installer; before platforms had their own, it was metal."""
    name = reference.split("/")[1] if reference.count("/") > 1 else ""
    return name.partition("-")[0] if name.partition("-")[2].startswith("installer") else "metal"


def _another_style(theirs: str, ours: str) -> Problem:
    return Problem(
        code="config.unresolved",
        what="the style of machines is another one",
        why=f"it is {theirs} there and {ours} here",
        fix="set the contract to that of the machines",
    )


def _order(first: Piece, second: Piece, place: str) -> Problem:
    return Problem(
        code="import.patch-order",
        what=f"{place} is said by {first.label} and by {second.label}",
        where=first.at,
        why="talhelper applies patches of all nodes last, so the second wins; in the order of "
        "stockman the first would",
        fix="say it once, and remove `patch_order: talhelper` when no such pair is left",
        severity=Severity.WARNING,
    )


def _rewritten(names: list[str], at: Position) -> Problem:
    return Problem(
        code="import.metal-installer",
        what=f"{', '.join(names)}: the installer for metal becomes that for nocloud",
        where=at,
        why="a machine that booted a nocloud image loses its network with the installer for metal",
        fix="give `--platform metal` if the machines booted a metal image",
        severity=Severity.WARNING,
    )
