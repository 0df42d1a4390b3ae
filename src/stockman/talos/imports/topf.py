"""The directory of a topf user: `topf.yaml`, and patches for all nodes, roles and single nodes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from stockman.config.convert.building import Building, put_into
from stockman.config.source.text import Unreadable
from stockman.config.source.tree import Entry, Mapping, Scalar, untyped
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.talos.generated import Wishes, generated
from stockman.talos.imports.bundles import take_bundle
from stockman.talos.imports.files import Listed, Read, is_sealed, read_text
from stockman.talos.imports.foreign import Foreign, ForeignNode, Piece, Scope, items
from stockman.talos.imports.go_template import Data, NotUnderstood, rendered
from stockman.talos.imports.installer import SchematicKeys, schematic_keys
from stockman.talos.imports.problems import (
    bad_template,
    check_kubernetes,
    missing_file,
    missing_key,
    no_mapping,
    no_nodes,
    no_patch,
    take_contract,
)
from stockman.talos.imports.talhelper_given import target
from stockman.talos.machine.facts import Document
from stockman.talos.machine.facts import document as kind
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.problems import Misfit
from stockman.talos.patches.reading import read_documents

TOPF = "topf.yaml"
_ROLES = {"control-plane": True, "worker": False}
_PATCH = re.compile(r".*\.ya?ml(\.tpl)?")
_ENDPOINT = re.compile(r"https://(\d+(?:\.\d+){3}):6443/?")
_SCHEMATIC = re.compile(r"[0-9a-f]{64}")
_PLAIN_SCHEMATIC = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
_KNOWN = (
    *("clusterName", "clusterEndpoint", "kubernetesVersion", "talosVersion", "schematicId"),
    *("factory", "platform", "secureboot", "patchesDir", "secretsPath", "nodes", "data"),
)
_DATA = "values for templates, which are filled in now"


def topf_directory(read: Read, listed: Listed) -> Foreign:
    """What the directory says; its problems tell what cannot be read."""
    foreign = Foreign(tool="topf", building=Building(TOPF), order="specific")
    try:
        text = read_text(read, TOPF)
        if text is None:
            foreign.problems.add(missing_file(TOPF, TOPF, "topf"))
            return foreign
        tree = read_yaml(TOPF, text)
    except Unreadable as unreadable:
        foreign.problems.add(unreadable.problem)
        return foreign
    _Reader(foreign, read, listed, tree).take()
    return foreign


class _Reader:
    def __init__(self, foreign: Foreign, read: Read, listed: Listed, tree: Mapping) -> None:
        self._foreign = foreign
        self._read = read
        self._listed = listed
        self._tree = tree

    def take(self) -> None:
        foreign, tree = self._foreign, self._tree
        for key in ("clusterName", "clusterEndpoint", "kubernetesVersion"):
            if key not in tree.entries:
                foreign.problems.add(missing_key(key, tree.at, "topf"))
        for key, entry in tree.entries.items():
            self._key(key, entry)
        version = tree.get("talosVersion")
        if version is None:
            foreign.problems.add(missing_key("talosVersion", tree.at, "stockman"))
        elif take_contract(foreign, self._text("talosVersion"), version.at):
            self._put("talos.contract", "talosVersion", foreign.contract)
        kubernetes = tree.get("kubernetesVersion")
        if kubernetes is not None:
            check_kubernetes(foreign, self._text("kubernetesVersion"), kubernetes.at)
        if foreign.problems.errors:
            return
        nodes = items(tree.get("nodes"))
        if not nodes:
            foreign.problems.add(no_nodes(tree.at))
        for index, node in enumerate(nodes):
            if isinstance(node, Mapping):
                self._node(index, node)
            else:
                foreign.problems.add(no_mapping(f"nodes[{index}]", node.at))
        secrets = self._text("secretsPath") or "secrets.yaml"
        take_bundle(foreign, self._read, (secrets,))

    def _key(self, key: str, entry: Entry) -> None:
        say, at = self._foreign.say, entry.key.at
        text = entry.value.text if isinstance(entry.value, Scalar) else ""
        match key:
            case "clusterName":
                self._put("cluster.name", key, text)
            case "kubernetesVersion":
                self._put("kubernetes.version", key, text.removeprefix("v"))
            case "talosVersion":
                self._put("talos.version", key, text.removeprefix("v"))
            case "clusterEndpoint":
                found = _ENDPOINT.fullmatch(text)
                if found is None:
                    how = "the API is reached at https://ADDRESS:6443, and the address is needed"
                    say(key, at, "left out", how)
                else:
                    self._put("kubernetes.api.addr", key, found[1])
            case "factory":
                self._put("talos.factory_url", key, f"https://{text}")
            case "platform":
                say(key, at, "changed", "talos.platform, as `--platform` says")
            case "schematicId" | "secureboot":
                say(key, at, "taken", "a key of each node")
            case "data":
                say(key, at, "changed", _DATA)
            case "secretsProvider" | "nodesProvider":
                say(key, at, "left out", "a program of yours, which is not run")
                if key == "nodesProvider":
                    self._foreign.problems.add(_provider(at))
            case "patchesDir" | "secretsPath" | "nodes":
                say(key, at, "taken", "it says where things are")
            case _:
                say(key, at, "left out", "topf has no such key")

    def _node(self, index: int, node: Mapping) -> None:
        foreign = self._foreign
        name, role = node.get("host"), node.get("role")
        if not isinstance(name, Scalar) or not isinstance(role, Scalar) or role.text not in _ROLES:
            foreign.problems.add(_no_role(f"nodes[{index}]", node))
            return
        is_controller = _ROLES[role.text]
        keys = Mapping(name.at)
        address = node.get("ip")
        self._node_key(keys, "name", f"nodes[{index}].host", node.entries["host"], name)
        if isinstance(address, Scalar):
            self._node_key(keys, "address", f"nodes[{index}].ip", node.entries["ip"], address)
        flag = Scalar("true" if is_controller else "false", role.at, plain=True, span=(0, 0))
        self._node_key(keys, "controller", f"nodes[{index}].role", node.entries["role"], flag)
        schematic = self._schematic(index, node, name)
        for path, entry in (schematic.keys if schematic is not None else {}).items():
            put_into(keys, path, entry)
        if self._is_true(node, "secureboot"):
            put_into(keys, "secureboot", Entry(name, _flag(name.at)))
        self._say_rest(index, node)
        data = _mapping(node.get("data"))
        foreign.nodes.append(
            ForeignNode(
                name=name.text,
                at=name.at,
                is_controller=is_controller,
                keys=keys,
                base=self._base(node, schematic, is_controller=is_controller),
                extra=[],
                pieces=self._pieces(node, name.text, role.text),
                address=address.text if isinstance(address, Scalar) else "",
                devices_at=name.at,
                installer_at=name.at,
                mac=str(data.get("macAddr") or "").lower(),
            )
        )

    def _node_key(self, keys: Mapping, path: str, known: str, entry: Entry, value: Scalar) -> None:
        put_into(keys, path, Entry(entry.key, value, name=known))
        self._foreign.say(known, entry.key.at, "taken", path)

    def _say_rest(self, index: int, node: Mapping) -> None:
        how = {
            "schematicId": ("taken", "schematic_id"),
            "secureboot": ("taken", "secureboot"),
            "data": ("changed", _DATA),
            "platform": ("changed", "talos.platform, as `--platform` says"),
            "factory": ("left out", "there is one factory for all nodes"),
            "talosVersion": ("left out", "there is one version for all nodes"),
        }
        for key, entry in node.entries.items():
            state, words = how.get(key, ("left out", "topf has no such key"))
            if key in ("host", "ip", "role"):
                continue
            known = f"nodes[{index}].{key}"
            self._foreign.say(
                known, entry.key.at, "taken" if state == "taken" else _state(state), words
            )

    def _schematic(self, index: int, node: Mapping, name: Scalar) -> SchematicKeys | None:
        found = node.get("schematicId") or self._tree.get("schematicId")
        if not isinstance(found, Scalar) or not found.text:
            return schematic_keys(None, name)
        if _SCHEMATIC.fullmatch(found.text):
            keys = {"schematic_id": Entry(found, found, name="schematicId")}
            return SchematicKeys(found.text, found.at, keys)
        path = found.text.removeprefix("@").removeprefix("./")
        try:
            text = read_text(self._read, path)
            if text is None:
                self._foreign.problems.add(missing_file(path, found.at, "topf"))
                return None
            if path.endswith(".tpl"):
                text = rendered(path, text, self._data(node, ""))
            return schematic_keys(read_yaml(path, text), name)
        except Unreadable as unreadable:
            self._foreign.problems.add(unreadable.problem)
        except NotUnderstood as error:
            self._foreign.problems.add(bad_template(path, error))
        return None

    def _base(
        self, node: Mapping, schematic: SchematicKeys | None, *, is_controller: bool
    ) -> list[Document]:
        """What topf starts from: `talosctl gen config`, with its installer."""
        own = node.get("talosVersion")
        version = own.text if isinstance(own, Scalar) else self._text("talosVersion")
        secured = "-secureboot" if self._is_true(node, "secureboot") else ""
        identifier = schematic.id if schematic is not None else _PLAIN_SCHEMATIC
        factory = self._either(node, "factory") or "factory.talos.dev"
        platform = self._either(node, "platform") or "metal"
        tag = f"v{version.removeprefix('v')}"
        document = generated(
            Wishes(
                contract=_line(self._foreign.contract),
                is_controller=is_controller,
                cluster_name=self._text("clusterName"),
                endpoint=self._text("clusterEndpoint"),
                kubernetes=f"v{self._text('kubernetesVersion').removeprefix('v')}",
                installer=f"{factory}/{platform}-installer{secured}/{identifier}:{tag}",
            )
        )
        if _line(self._foreign.contract) < (1, 12):
            return [document]
        return [document, kind("HostnameConfig", auto="stable")]

    def _pieces(self, node: Mapping, name: str, role: str) -> list[Piece]:
        base = self._text("patchesDir").removeprefix("./").rstrip("/")
        root = f"{base}/" if base else ""
        scope: Scope = "controller" if _ROLES[role] else "worker"
        folders: tuple[tuple[Scope, str], ...] = (
            ("all", f"{root}all"),
            (scope, f"{root}{role}"),
            ("node", f"{root}node/{name}"),
        )
        found: list[Piece] = []
        for level, folder in folders:
            paths = [path for path in self._listed(folder) if _PATCH.match(path)]
            for index, path in enumerate(paths):
                found += self._patch(path, level, index, self._data(node, role))
        return found

    def _patch(self, path: str, scope: Scope, index: int, data: Data) -> list[Piece]:
        foreign, at = self._foreign, Position(path, 1, 1)
        try:
            text = read_text(self._read, path) or ""
            if path.endswith(".tpl"):
                text = rendered(path, text, data)
                how = "a template, which is filled in for each machine now"
                foreign.say(path, at, "changed", how)
            elif is_sealed(text, path):
                how = "it is encrypted, and would be in the clear here"
                foreign.say(path, at, "left out", how)
                return []
            else:
                foreign.say(path, at, "taken", target(scope))
            documents = read_documents(path, text)
        except Unreadable as unreadable:
            foreign.problems.add(unreadable.problem)
        except NotUnderstood as error:
            foreign.problems.add(bad_template(path, error))
        except Misfit as misfit:
            foreign.problems.add(misfit.error(path, misfit.at).problem)
        else:
            written = Patch(label=path, file=path, text=text)
            found = self._documents(path, scope, index, documents)
            return [replace(piece, written=written) for piece in found]
        return []

    def _documents(
        self, path: str, scope: Scope, index: int, documents: tuple[object, ...]
    ) -> list[Piece]:
        found = []
        for number, one in enumerate(documents):
            if isinstance(one, Mapping):
                if one.entries:
                    found.append(Piece(path, scope, (index, number), one))
            elif not isinstance(one, Scalar) or not one.is_null:
                self._foreign.problems.add(no_patch(path, Position(path, 1, 1), "topf"))
        return found

    def _data(self, node: Mapping, role: str) -> Document:
        """What templates are told."""
        address = node.get("ip")
        host = node.get("host")
        return {
            "ClusterName": self._text("clusterName"),
            "ClusterEndpoint": self._text("clusterEndpoint"),
            "KubernetesVersion": self._text("kubernetesVersion"),
            "TalosVersion": self._text("talosVersion"),
            "SchematicID": self._either(node, "schematicId") or _PLAIN_SCHEMATIC,
            "Data": _mapping(self._tree.get("data")),
            "Node": {
                "Host": host.text if isinstance(host, Scalar) else "",
                "IP": address.text if isinstance(address, Scalar) else "",
                "Role": role,
                "Data": _mapping(node.get("data")),
            },
        }

    def _put(self, path: str, key: str, text: str) -> None:
        entry = self._tree.entries[key]
        value = Scalar(text, entry.value.at, plain=False, span=(0, 0))
        self._foreign.building.put(path, Entry(entry.key, value, name=key))
        if path != "talos.contract":
            self._foreign.say(key, entry.key.at, "taken", path)

    def _text(self, key: str) -> str:
        found = self._tree.get(key)
        return found.text if isinstance(found, Scalar) else ""

    def _either(self, node: Mapping, key: str) -> str:
        own = node.get(key)
        return own.text if isinstance(own, Scalar) and own.text else self._text(key)

    def _is_true(self, node: Mapping, key: str) -> bool:
        return "true" in (self._either(node, key).lower(), self._text(key).lower())


def _state(text: str) -> Literal["changed", "left out"]:
    return "changed" if text == "changed" else "left out"


def _flag(at: Position) -> Scalar:
    return Scalar("true", at, plain=True, span=(0, 0))


def _mapping(node: object) -> Document:
    found = untyped(node) if isinstance(node, Mapping) else {}
    return found if isinstance(found, dict) else {}


def _line(contract: str) -> tuple[int, int]:
    major, _, minor = contract.partition(".")
    return int(major), int(minor)


def _no_role(what: str, node: Mapping) -> Problem:
    return Problem(
        code="config.missing-key",
        what=f"{what} has no host, or no role that topf knows",
        where=node.at,
        why="a node needs `host`, and `role`: control-plane or worker",
        fix="add the two",
    )


def _provider(at: Position) -> Problem:
    return Problem(
        code="import.provider",
        what="the nodes come from a program",
        where=at,
        why="no program of a directory is run to take it over",
        fix="write the nodes that it gives under `nodes:`, and remove `nodesProvider`",
    )
