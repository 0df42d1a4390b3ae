"""The directory of a topf user: `topf.yaml`, and patches for all nodes, roles and single nodes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from stockman.config.convert.draft import ConfigDraft, put_value
from stockman.config.source.text import Unreadable
from stockman.config.source.tree import MappingEntry, MappingNode, ScalarNode, to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.talos.imports.files import (
    ListFiles,
    ReadFile,
    import_bundle,
    is_sops_encrypted,
    read_text,
)
from stockman.talos.imports.foreign import (
    ForeignCluster,
    ForeignNode,
    ForeignPatch,
    PatchScope,
    check_kubernetes_version,
    invalid_patch_problem,
    list_items,
    missing_file_problem,
    missing_key_problem,
    no_nodes_problem,
    not_a_mapping_problem,
    set_contract,
    template_problem,
)
from stockman.talos.imports.go_template import Data, UnsupportedTemplate, render_template
from stockman.talos.imports.installer import SchematicKeys, schematic_keys
from stockman.talos.imports.talhelper.node_keys import patch_target
from stockman.talos.machine.gen_config import GenConfigOptions, generate_config
from stockman.talos.machine.inputs import Document
from stockman.talos.machine.inputs import new_document as kind
from stockman.talos.patches.patch import InvalidValue, Patch
from stockman.talos.patches.reader import read_documents

TOPF = "topf.yaml"
_ROLES = {"control-plane": True, "worker": False}
_PATCH = re.compile(r".*\.ya?ml(\.tpl)?")
_ENDPOINT = re.compile(r"https://(\d+(?:\.\d+){3}):6443/?")
_SCHEMATIC = re.compile(r"[0-9a-f]{64}")
_PLAIN_SCHEMATIC = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
_KNOWN_KEYS = (
    *("clusterName", "clusterEndpoint", "kubernetesVersion", "talosVersion", "schematicId"),
    *("factory", "platform", "secureboot", "patchesDir", "secretsPath", "nodes", "data"),
)
_TEMPLATE_DATA_NOTE = "values for templates, which are filled in now"


def topf_directory(read: ReadFile, listed: ListFiles) -> ForeignCluster:
    """What the directory says; its problems tell what cannot be read."""
    foreign = ForeignCluster(tool="topf", building=ConfigDraft(TOPF), order="specific")
    try:
        text = read_text(read, TOPF)
        if text is None:
            foreign.problems.add(missing_file_problem(TOPF, TOPF, "topf"))
            return foreign
        tree = read_yaml(TOPF, text)
    except Unreadable as unreadable:
        foreign.problems.add(unreadable.problem)
        return foreign
    _TopfReader(foreign, read, listed, tree).take()
    return foreign


class _TopfReader:
    def __init__(
        self, foreign: ForeignCluster, read: ReadFile, listed: ListFiles, tree: MappingNode
    ) -> None:
        self._foreign = foreign
        self._read = read
        self._listed = listed
        self._tree = tree

    def take(self) -> None:
        foreign, tree = self._foreign, self._tree
        for key in ("clusterName", "clusterEndpoint", "kubernetesVersion"):
            if key not in tree.entries:
                foreign.problems.add(missing_key_problem(key, tree.at, "topf"))
        for key, entry in tree.entries.items():
            self._key(key, entry)
        version = tree.get("talosVersion")
        if version is None:
            foreign.problems.add(missing_key_problem("talosVersion", tree.at, "stockman"))
        elif set_contract(foreign, self._text("talosVersion"), version.at):
            self._put("talos.contract", "talosVersion", foreign.contract)
        kubernetes = tree.get("kubernetesVersion")
        if kubernetes is not None:
            check_kubernetes_version(foreign, self._text("kubernetesVersion"), kubernetes.at)
        if foreign.problems.errors:
            return
        nodes = list_items(tree.get("nodes"))
        if not nodes:
            foreign.problems.add(no_nodes_problem(tree.at))
        for index, node in enumerate(nodes):
            if isinstance(node, MappingNode):
                self._node(index, node)
            else:
                foreign.problems.add(not_a_mapping_problem(f"nodes[{index}]", node.at))
        secrets = self._text("secretsPath") or "secrets.yaml"
        import_bundle(foreign, self._read, (secrets,))

    def _key(self, key: str, entry: MappingEntry) -> None:
        say, at = self._foreign.say, entry.key.at
        text = entry.value.text if isinstance(entry.value, ScalarNode) else ""
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
                say(key, at, "changed", _TEMPLATE_DATA_NOTE)
            case "secretsProvider" | "nodesProvider":
                say(key, at, "left out", "a program of yours, which is not run")
                if key == "nodesProvider":
                    self._foreign.problems.add(_provider_problem(at))
            case "patchesDir" | "secretsPath" | "nodes":
                say(key, at, "taken", "it says where things are")
            case _:
                say(key, at, "left out", "topf has no such key")

    def _node(self, index: int, node: MappingNode) -> None:
        foreign = self._foreign
        name, role = node.get("host"), node.get("role")
        if (
            not isinstance(name, ScalarNode)
            or not isinstance(role, ScalarNode)
            or role.text not in _ROLES
        ):
            foreign.problems.add(_role_problem(f"nodes[{index}]", node))
            return
        is_controller = _ROLES[role.text]
        keys = MappingNode(name.at)
        address = node.get("ip")
        self._node_key(keys, "name", f"nodes[{index}].host", node.entries["host"], name)
        if isinstance(address, ScalarNode):
            self._node_key(keys, "address", f"nodes[{index}].ip", node.entries["ip"], address)
        flag = ScalarNode("true" if is_controller else "false", role.at, plain=True, span=(0, 0))
        self._node_key(keys, "controller", f"nodes[{index}].role", node.entries["role"], flag)
        schematic = self._schematic(index, node, name)
        for path, entry in (schematic.keys if schematic is not None else {}).items():
            put_value(keys, path, entry)
        if self._is_true(node, "secureboot"):
            put_value(keys, "secureboot", MappingEntry(name, _flag(name.at)))
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
                address=address.text if isinstance(address, ScalarNode) else "",
                devices_at=name.at,
                installer_at=name.at,
                mac=str(data.get("macAddr") or "").lower(),
            )
        )

    def _node_key(
        self, keys: MappingNode, path: str, known: str, entry: MappingEntry, value: ScalarNode
    ) -> None:
        put_value(keys, path, MappingEntry(entry.key, value, name=known))
        self._foreign.say(known, entry.key.at, "taken", path)

    def _say_rest(self, index: int, node: MappingNode) -> None:
        how = {
            "schematicId": ("taken", "schematic_id"),
            "secureboot": ("taken", "secureboot"),
            "data": ("changed", _TEMPLATE_DATA_NOTE),
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
                known, entry.key.at, "taken" if state == "taken" else _key_state(state), words
            )

    def _schematic(self, index: int, node: MappingNode, name: ScalarNode) -> SchematicKeys | None:
        found = node.get("schematicId") or self._tree.get("schematicId")
        if not isinstance(found, ScalarNode) or not found.text:
            return schematic_keys(None, name)
        if _SCHEMATIC.fullmatch(found.text):
            keys = {"schematic_id": MappingEntry(found, found, name="schematicId")}
            return SchematicKeys(found.text, found.at, keys)
        path = found.text.removeprefix("@").removeprefix("./")
        try:
            text = read_text(self._read, path)
            if text is None:
                self._foreign.problems.add(missing_file_problem(path, found.at, "topf"))
                return None
            if path.endswith(".tpl"):
                text = render_template(path, text, self._data(node, ""))
            return schematic_keys(read_yaml(path, text), name)
        except Unreadable as unreadable:
            self._foreign.problems.add(unreadable.problem)
        except UnsupportedTemplate as error:
            self._foreign.problems.add(template_problem(path, error))
        return None

    def _base(
        self, node: MappingNode, schematic: SchematicKeys | None, *, is_controller: bool
    ) -> list[Document]:
        """What topf starts from: `talosctl gen config`, with its installer."""
        own = node.get("talosVersion")
        version = own.text if isinstance(own, ScalarNode) else self._text("talosVersion")
        secured = "-secureboot" if self._is_true(node, "secureboot") else ""
        identifier = schematic.id if schematic is not None else _PLAIN_SCHEMATIC
        factory = self._either(node, "factory") or "factory.talos.dev"
        platform = self._either(node, "platform") or "metal"
        tag = f"v{version.removeprefix('v')}"
        document = generate_config(
            GenConfigOptions(
                contract=_contract_minor(self._foreign.contract),
                is_controller=is_controller,
                cluster_name=self._text("clusterName"),
                endpoint=self._text("clusterEndpoint"),
                kubernetes=f"v{self._text('kubernetesVersion').removeprefix('v')}",
                installer=f"{factory}/{platform}-installer{secured}/{identifier}:{tag}",
            )
        )
        if _contract_minor(self._foreign.contract) < (1, 12):
            return [document]
        return [document, kind("HostnameConfig", auto="stable")]

    def _pieces(self, node: MappingNode, name: str, role: str) -> list[ForeignPatch]:
        base = self._text("patchesDir").removeprefix("./").rstrip("/")
        root = f"{base}/" if base else ""
        scope: PatchScope = "controller" if _ROLES[role] else "worker"
        folders: tuple[tuple[PatchScope, str], ...] = (
            ("all", f"{root}all"),
            (scope, f"{root}{role}"),
            ("node", f"{root}node/{name}"),
        )
        found: list[ForeignPatch] = []
        for level, folder in folders:
            paths = [path for path in self._listed(folder) if _PATCH.match(path)]
            for index, path in enumerate(paths):
                found += self._patch(path, level, index, self._data(node, role))
        return found

    def _patch(self, path: str, scope: PatchScope, index: int, data: Data) -> list[ForeignPatch]:
        foreign, at = self._foreign, Position(path, 1, 1)
        try:
            text = read_text(self._read, path) or ""
            if path.endswith(".tpl"):
                text = render_template(path, text, data)
                how = "a template, which is filled in for each machine now"
                foreign.say(path, at, "changed", how)
            elif is_sops_encrypted(text, path):
                how = "it is encrypted, and would be in the clear here"
                foreign.say(path, at, "left out", how)
                return []
            else:
                foreign.say(path, at, "taken", patch_target(scope))
            documents = read_documents(path, text)
        except Unreadable as unreadable:
            foreign.problems.add(unreadable.problem)
        except UnsupportedTemplate as error:
            foreign.problems.add(template_problem(path, error))
        except InvalidValue as misfit:
            foreign.problems.add(misfit.error(path, misfit.at).problem)
        else:
            written = Patch(label=path, file=path, text=text)
            found = self._documents(path, scope, index, documents)
            return [replace(piece, written=written) for piece in found]
        return []

    def _documents(
        self, path: str, scope: PatchScope, index: int, documents: tuple[object, ...]
    ) -> list[ForeignPatch]:
        found = []
        for number, one in enumerate(documents):
            if isinstance(one, MappingNode):
                if one.entries:
                    found.append(ForeignPatch(path, scope, (index, number), one))
            elif not isinstance(one, ScalarNode) or not one.is_null:
                self._foreign.problems.add(
                    invalid_patch_problem(path, Position(path, 1, 1), "topf")
                )
        return found

    def _data(self, node: MappingNode, role: str) -> Document:
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
                "Host": host.text if isinstance(host, ScalarNode) else "",
                "IP": address.text if isinstance(address, ScalarNode) else "",
                "Role": role,
                "Data": _mapping(node.get("data")),
            },
        }

    def _put(self, path: str, key: str, text: str) -> None:
        entry = self._tree.entries[key]
        value = ScalarNode(text, entry.value.at, plain=False, span=(0, 0))
        self._foreign.building.put(path, MappingEntry(entry.key, value, name=key))
        if path != "talos.contract":
            self._foreign.say(key, entry.key.at, "taken", path)

    def _text(self, key: str) -> str:
        found = self._tree.get(key)
        return found.text if isinstance(found, ScalarNode) else ""

    def _either(self, node: MappingNode, key: str) -> str:
        own = node.get(key)
        return own.text if isinstance(own, ScalarNode) and own.text else self._text(key)

    def _is_true(self, node: MappingNode, key: str) -> bool:
        return "true" in (self._either(node, key).lower(), self._text(key).lower())


def _key_state(text: str) -> Literal["changed", "left out"]:
    return "changed" if text == "changed" else "left out"


def _flag(at: Position) -> ScalarNode:
    return ScalarNode("true", at, plain=True, span=(0, 0))


def _mapping(node: object) -> Document:
    found = to_plain_data(node) if isinstance(node, MappingNode) else {}
    return found if isinstance(found, dict) else {}


def _contract_minor(contract: str) -> tuple[int, int]:
    major, _, minor = contract.partition(".")
    return int(major), int(minor)


def _role_problem(what: str, node: MappingNode) -> Problem:
    return Problem(
        code="config.missing-key",
        what=f"{what} has no host, or no role that topf knows",
        where=node.at,
        why="a node needs `host`, and `role`: control-plane or worker",
        fix="add the two",
    )


def _provider_problem(at: Position) -> Problem:
    return Problem(
        code="import.provider",
        what="the nodes come from a program",
        where=at,
        why="no program of a directory is run to take it over",
        fix="write the nodes that it gives under `nodes:`, and remove `nodesProvider`",
    )
