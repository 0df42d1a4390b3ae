"""Read the directory of a topf user: `topf.yaml`, and patches for all nodes, roles and nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from stockman.config.convert.draft import ConfigDraft, put_value
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    Unreadable,
    to_plain_data,
)
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.talos.documents import Document
from stockman.talos.imports.foreign import (
    ForeignCluster,
    ForeignNode,
    ForeignPatch,
    ListFiles,
    PatchScope,
    ReadFile,
    SchematicKeys,
    check_kubernetes_version,
    import_bundle,
    invalid_patch_problem,
    is_sops_encrypted,
    list_items,
    missing_file_problem,
    missing_key_problem,
    new_scalar,
    no_nodes_problem,
    not_a_mapping_problem,
    read_text,
    schematic_keys,
    set_contract,
    template_problem,
)
from stockman.talos.imports.go_template import Data, UnsupportedTemplate, render_template
from stockman.talos.imports.talhelper.node_keys import patch_target
from stockman.talos.machine.gen_config import GenConfigOptions, generate_config
from stockman.talos.machine.inputs import new_document as kind
from stockman.talos.patches.patch import InvalidValue, Patch, read_documents

TOPF = "topf.yaml"
_ROLES = {"control-plane": True, "worker": False}
_PATCH = pattern(r".*\.ya?ml(\.tpl)?")
_ENDPOINT = pattern(r"https://(\d+(?:\.\d+){3}):6443/?")
_SCHEMATIC = pattern(r"[0-9a-f]{64}")
_PLAIN_SCHEMATIC = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
_TEMPLATE_DATA_NOTE = "values for templates, which were rendered"


def read_topf_directory(read: ReadFile, list_files: ListFiles) -> ForeignCluster:
    """Return the cluster of the directory; its problems tell what cannot be read."""
    foreign = ForeignCluster(tool="topf", building=ConfigDraft(TOPF), order="specific")
    try:
        text = read_text(read, TOPF)
        if text is None:
            foreign.problems.add(missing_file_problem(TOPF, TOPF, "topf"))
            return foreign
        tree = read_yaml(TOPF, text)
    except Unreadable as error:
        foreign.problems.add(error.problem)
        return foreign
    _TopfReader(foreign, read, list_files, tree).read()
    return foreign


class _TopfReader:
    def __init__(
        self, foreign: ForeignCluster, read: ReadFile, list_files: ListFiles, tree: MappingNode
    ) -> None:
        self._foreign = foreign
        self._read = read
        self._list_files = list_files
        self._tree = tree

    def read(self) -> None:
        foreign, tree = self._foreign, self._tree
        for key in ("clusterName", "clusterEndpoint", "kubernetesVersion"):
            if key not in tree.entries:
                foreign.problems.add(missing_key_problem(key, tree.at, "topf"))
        for key, entry in tree.entries.items():
            self._read_key(key, entry)
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
                self._read_node(index, node)
            else:
                foreign.problems.add(not_a_mapping_problem(f"nodes[{index}]", node.at))
        secrets = self._text("secretsPath") or "secrets.yaml"
        import_bundle(foreign, self._read, (secrets,))

    def _read_key(self, key: str, entry: MappingEntry) -> None:
        record, at = self._foreign.record, entry.key.at
        text = entry.value.text if isinstance(entry.value, ScalarNode) else ""
        match key:
            case "clusterName":
                self._put("cluster.name", key, text)
            case "kubernetesVersion":
                self._put("kubernetes.version", key, text.removeprefix("v"))
            case "talosVersion":
                self._put("talos.version", key, text.removeprefix("v"))
            case "clusterEndpoint":
                address = _ENDPOINT.fullmatch(text)
                if address is None:
                    how = "the endpoint must be https://ADDRESS:6443 with an IPv4 address"
                    record(key, at, "left out", how)
                else:
                    self._put("kubernetes.api.addr", key, address[1])
            case "factory":
                self._put("talos.factory_url", key, f"https://{text}")
            case "platform":
                record(key, at, "changed", "talos.platform, set by `--platform`")
            case "schematicId" | "secureboot":
                record(key, at, "taken", "a key of each node")
            case "data":
                record(key, at, "changed", _TEMPLATE_DATA_NOTE)
            case "secretsProvider" | "nodesProvider":
                record(key, at, "left out", "an external program, which is not run")
                if key == "nodesProvider":
                    self._foreign.problems.add(_provider_problem(at))
            case "patchesDir" | "secretsPath" | "nodes":
                record(key, at, "taken", "it names files")
            case _:
                record(key, at, "left out", "topf does not know this key")

    def _read_node(self, index: int, node: MappingNode) -> None:
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
        flag = new_scalar("true" if is_controller else "false", role.at, plain=True)
        self._node_key(keys, "controller", f"nodes[{index}].role", node.entries["role"], flag)
        schematic = self._schematic(index, node, name)
        for path, entry in (schematic.keys if schematic is not None else {}).items():
            put_value(keys, path, entry)
        if self._is_true(node, "secureboot"):
            put_value(
                keys, "secureboot", MappingEntry(name, new_scalar("true", name.at, plain=True))
            )
        self._record_remaining(index, node)
        data = _mapping(node.get("data"))
        foreign.nodes.append(
            ForeignNode(
                name=name.text,
                at=name.at,
                is_controller=is_controller,
                keys=keys,
                base=self._base(node, schematic, is_controller=is_controller),
                extra=[],
                patches=self._node_patches(node, name.text, role.text),
                address=address.text if isinstance(address, ScalarNode) else "",
                devices_at=name.at,
                installer_at=name.at,
                mac=str(data.get("macAddr") or "").lower(),
            )
        )

    def _node_key(
        self, keys: MappingNode, path: str, label: str, entry: MappingEntry, value: ScalarNode
    ) -> None:
        put_value(keys, path, MappingEntry(entry.key, value, name=label))
        self._foreign.record(label, entry.key.at, "taken", path)

    def _record_remaining(self, index: int, node: MappingNode) -> None:
        how = {
            "schematicId": ("taken", "schematic_id"),
            "secureboot": ("taken", "secureboot"),
            "data": ("changed", _TEMPLATE_DATA_NOTE),
            "platform": ("changed", "talos.platform, set by `--platform`"),
            "factory": ("left out", "all nodes use one factory"),
            "talosVersion": ("left out", "all nodes have one version"),
        }
        for key, entry in node.entries.items():
            state, text = how.get(key, ("left out", "topf does not know this key"))
            if key in ("host", "ip", "role"):
                continue
            label = f"nodes[{index}].{key}"
            self._foreign.record(
                label, entry.key.at, "taken" if state == "taken" else _key_state(state), text
            )

    def _schematic(self, index: int, node: MappingNode, name: ScalarNode) -> SchematicKeys | None:
        schematic = node.get("schematicId") or self._tree.get("schematicId")
        if not isinstance(schematic, ScalarNode) or not schematic.text:
            return schematic_keys(None, name)
        if _SCHEMATIC.fullmatch(schematic.text):
            keys = {"schematic_id": MappingEntry(schematic, schematic, name="schematicId")}
            return SchematicKeys(schematic.text, schematic.at, keys)
        path = schematic.text.removeprefix("@").removeprefix("./")
        try:
            text = read_text(self._read, path)
            if text is None:
                self._foreign.problems.add(missing_file_problem(path, schematic.at, "topf"))
                return None
            if path.endswith(".tpl"):
                text = render_template(path, text, self._data(node, ""))
            return schematic_keys(read_yaml(path, text), name)
        except Unreadable as error:
            self._foreign.problems.add(error.problem)
        except UnsupportedTemplate as error:
            self._foreign.problems.add(template_problem(path, error))
        return None

    def _base(
        self, node: MappingNode, schematic: SchematicKeys | None, *, is_controller: bool
    ) -> list[Document]:
        """Return the base of topf: the output of `talosctl gen config`, with its installer."""
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

    def _node_patches(self, node: MappingNode, name: str, role: str) -> list[ForeignPatch]:
        base = self._text("patchesDir").removeprefix("./").rstrip("/")
        root = f"{base}/" if base else ""
        scope: PatchScope = "controller" if _ROLES[role] else "worker"
        folders: tuple[tuple[PatchScope, str], ...] = (
            ("all", f"{root}all"),
            (scope, f"{root}{role}"),
            ("node", f"{root}node/{name}"),
        )
        patches: list[ForeignPatch] = []
        for level, folder in folders:
            paths = [path for path in self._list_files(folder) if _PATCH.match(path)]
            for index, path in enumerate(paths):
                patches += self._read_patch(path, level, index, self._data(node, role))
        return patches

    def _read_patch(
        self, path: str, scope: PatchScope, index: int, data: Data
    ) -> list[ForeignPatch]:
        foreign, at = self._foreign, Position(path, 1, 1)
        try:
            text = read_text(self._read, path) or ""
            if path.endswith(".tpl"):
                text = render_template(path, text, data)
                how = "a template, which was rendered for each machine"
                foreign.record(path, at, "changed", how)
            elif is_sops_encrypted(text, path):
                how = "it is encrypted, and would be unencrypted here"
                foreign.record(path, at, "left out", how)
                return []
            else:
                foreign.record(path, at, "taken", patch_target(scope))
            documents = read_documents(path, text)
        except Unreadable as error:
            foreign.problems.add(error.problem)
        except UnsupportedTemplate as error:
            foreign.problems.add(template_problem(path, error))
        except InvalidValue as error:
            foreign.problems.add(error.error(path, error.at).problem)
        else:
            written = Patch(label=path, file=path, text=text)
            patches = self._build_patches(path, scope, index, documents)
            return [replace(patch, written=written) for patch in patches]
        return []

    def _build_patches(
        self, path: str, scope: PatchScope, index: int, documents: tuple[object, ...]
    ) -> list[ForeignPatch]:
        patches = []
        for number, document in enumerate(documents):
            if isinstance(document, MappingNode):
                if document.entries:
                    patches.append(ForeignPatch(path, scope, (index, number), document))
            elif not isinstance(document, ScalarNode) or not document.is_null:
                self._foreign.problems.add(
                    invalid_patch_problem(path, Position(path, 1, 1), "topf")
                )
        return patches

    def _data(self, node: MappingNode, role: str) -> Document:
        """Return the data for templates."""
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
        value = new_scalar(text, entry.value.at)
        self._foreign.building.set_value(path, MappingEntry(entry.key, value, name=key))
        if path != "talos.contract":
            self._foreign.record(key, entry.key.at, "taken", path)

    def _text(self, key: str) -> str:
        value = self._tree.get(key)
        return value.text if isinstance(value, ScalarNode) else ""

    def _either(self, node: MappingNode, key: str) -> str:
        own = node.get(key)
        return own.text if isinstance(own, ScalarNode) and own.text else self._text(key)

    def _is_true(self, node: MappingNode, key: str) -> bool:
        return "true" in (self._either(node, key).lower(), self._text(key).lower())


def _key_state(text: str) -> Literal["changed", "left out"]:
    return "changed" if text == "changed" else "left out"


def _mapping(node: object) -> Document:
    value = to_plain_data(node) if isinstance(node, MappingNode) else {}
    return value if isinstance(value, dict) else {}


def _contract_minor(contract: str) -> tuple[int, int]:
    major, _, minor = contract.partition(".")
    return int(major), int(minor)


def _role_problem(what: str, node: MappingNode) -> Problem:
    return Problem(
        code="config.missing-key",
        what=f"{what} needs a host and a valid role",
        where=node.at,
        why="a node needs `host`, and `role`: control-plane or worker",
        fix="add both keys",
    )


def _provider_problem(at: Position) -> Problem:
    return Problem(
        code="import.provider",
        what="the nodes are generated by a program",
        where=at,
        why="stockman does not run programs of an imported directory",
        fix="list the generated nodes under `nodes:`, and remove `nodesProvider`",
    )
