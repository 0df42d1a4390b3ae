"""Read the directory of a talhelper user: `talconfig.yaml` and the files it references."""

from __future__ import annotations

from stockman.config.convert.draft import ConfigDraft, text_scalar
from stockman.config.source.tree import MappingEntry, MappingNode, ScalarNode, Unreadable
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.talos.imports.foreign import (
    SOPS,
    ForeignCluster,
    ReadFile,
    check_kubernetes_version,
    import_bundle,
    list_items,
    missing_file_problem,
    missing_key_problem,
    no_nodes_problem,
    not_a_mapping_problem,
    read_text,
    set_contract,
)
from stockman.talos.imports.talhelper.node_keys import (
    HIDDEN_VALUE_PREFIX,
    NEWEST_VERSION,
    Variables,
    substitute_variables,
)
from stockman.talos.imports.talhelper.nodes import NodeReader
from stockman.talos.imports.talhelper.patches import PatchReader

TALCONFIG = "talconfig.yaml"
_ENVIRONMENT = ("talenv.yaml", "talenv.sops.yaml", "talenv.yml", "talenv.sops.yml")
_SECRETS = ("talsecret.yaml", "talsecret.sops.yaml", "talsecret.yml", "talsecret.sops.yml")
_ENDPOINT = pattern(r"https://([^:/]+):6443/?")
_ADDRESS = pattern(r"\d+(\.\d+){3}")

_PLAIN_KEYS = {
    "clusterName": "cluster.name",
    "talosVersion": "talos.version",
    "kubernetesVersion": "kubernetes.version",
}
_REQUIRED_KEYS = ("clusterName", "kubernetesVersion", "endpoint", "nodes")
_HANDLED_KEYS = ("domain", "nodes", "controlPlane", "worker", "patches", "inlineManifests")
"""Keys that are processed where they take effect."""


def read_talhelper_directory(read: ReadFile, overrides: Variables) -> ForeignCluster:
    """Return the cluster of the directory; its problems tell what cannot be read."""
    foreign = ForeignCluster(tool="talhelper", building=ConfigDraft(TALCONFIG), order="talhelper")
    try:
        text = read_text(read, TALCONFIG)
        if text is None:
            foreign.problems.add(missing_file_problem(TALCONFIG, TALCONFIG, "talhelper"))
            return foreign
        variables = _variables(read, overrides)
        text = substitute_variables(TALCONFIG, text, variables, foreign.problems.add)
        tree = read_yaml(TALCONFIG, text)
    except Unreadable as error:
        foreign.problems.add(error.problem)
        return foreign
    if not foreign.problems.errors:
        patches = PatchReader(foreign, read, variables, text)
        _TalconfigReader(foreign, read, patches, tree).read()
    return foreign


def _variables(read: ReadFile, overrides: Variables) -> Variables:
    values: dict[str, str] = {}
    hidden: set[str] = set()
    for name in _ENVIRONMENT:
        text = read_text(read, name)
        if text is None:
            continue
        tree = read_yaml(name, text)
        for key, entry in tree.entries.items():
            if SOPS in tree.entries:
                hidden |= {key} - {SOPS}
            elif isinstance(entry.value, ScalarNode):
                values[key] = entry.value.text
                hidden.discard(key)
    values |= overrides.values
    return Variables(values=values, hidden=frozenset(hidden - set(overrides.values)))


class _TalconfigReader:
    """Reads the cluster-wide keys."""

    def __init__(
        self, foreign: ForeignCluster, read: ReadFile, patches: PatchReader, tree: MappingNode
    ) -> None:
        self._foreign = foreign
        self._read = read
        self._patches = patches
        self._tree = tree

    def read(self) -> None:
        foreign, tree = self._foreign, self._tree
        for key in _REQUIRED_KEYS:
            if key not in tree.entries:
                foreign.problems.add(missing_key_problem(key, tree.at, "talhelper"))
        for key, entry in tree.entries.items():
            self._read_key(key, entry)
        self._read_contract()
        version = tree.get("kubernetesVersion")
        if isinstance(version, ScalarNode) and HIDDEN_VALUE_PREFIX not in version.text:
            check_kubernetes_version(foreign, version.text, version.at)
        if foreign.problems.errors:
            return
        reader = NodeReader(foreign, tree, self._patches)
        nodes = tree.get("nodes")
        if not list_items(nodes):
            foreign.problems.add(no_nodes_problem(tree.at if nodes is None else nodes.at))
        for index, node in enumerate(list_items(nodes)):
            if isinstance(node, MappingNode):
                reader.read(index, node)
            else:
                foreign.problems.add(not_a_mapping_problem(f"nodes[{index}]", node.at))
        import_bundle(foreign, self._read, _SECRETS)

    def _read_key(self, key: str, entry: MappingEntry) -> None:
        foreign, value = self._foreign, entry.value
        at = entry.key.at
        if isinstance(value, ScalarNode) and HIDDEN_VALUE_PREFIX in value.text:
            foreign.problems.add(_encrypted_value_problem(key, value))
            return
        if key in _PLAIN_KEYS and isinstance(value, ScalarNode):
            normalized = text_scalar(
                value.text.removeprefix("v") if "Version" in key else value.text, value
            )
            foreign.building.set_value(
                _PLAIN_KEYS[key], MappingEntry(entry.key, normalized, name=key)
            )
            foreign.record(key, at, "taken", _PLAIN_KEYS[key])
        elif key == "endpoint" and isinstance(value, ScalarNode):
            self._read_endpoint(key, entry, value)
        elif key in ("clusterPodNets", "clusterSvcNets"):
            self._read_network(key, entry)
        elif key in ("allowSchedulingOnMasters", "allowSchedulingOnControlPlanes"):
            foreign.building.set_value(
                "kubernetes.schedule_on_controllers", MappingEntry(entry.key, value, name=key)
            )
            foreign.record(key, at, "taken", "kubernetes.schedule_on_controllers")
        elif key == "cniConfig":
            self._read_cni(entry)
        elif key == "imageFactory":
            self._read_factory(entry)
        elif key in ("additionalMachineCertSans", "additionalApiServerCertSans"):
            how = "kubernetes.api.tls_sans, and patches for names that are not domain names"
            foreign.record(key, at, "changed", how)
        elif key not in _HANDLED_KEYS:
            foreign.record(key, at, "left out", "talhelper does not know this key and ignores it")

    def _read_endpoint(self, key: str, entry: MappingEntry, value: ScalarNode) -> None:
        match = _ENDPOINT.fullmatch(value.text)
        if match is not None and _ADDRESS.fullmatch(match[1]):
            address = MappingEntry(entry.key, text_scalar(match[1], value), name=key)
            self._foreign.building.set_value("kubernetes.api.addr", address)
            self._foreign.record(key, entry.key.at, "taken", "kubernetes.api.addr")
        else:
            how = "the endpoint must be https://ADDRESS:6443 with an IPv4 address"
            self._foreign.record(key, entry.key.at, "left out", how)

    def _read_network(self, key: str, entry: MappingEntry) -> None:
        path = "kubernetes.pod_cidr" if key == "clusterPodNets" else "kubernetes.svc_cidr"
        networks = list_items(entry.value)
        if len(networks) != 1:
            how = "exactly one IPv4 network is required"
            self._foreign.record(key, entry.key.at, "left out", how)
            return
        self._foreign.building.set_value(path, MappingEntry(entry.key, networks[0], name=key))
        self._foreign.record(key, entry.key.at, "taken", path)

    def _read_cni(self, entry: MappingEntry) -> None:
        name = entry.value.get("name") if isinstance(entry.value, MappingNode) else None
        if isinstance(name, ScalarNode) and name.text == "none":
            self._foreign.record("cniConfig", entry.key.at, "taken", "Talos never installs a CNI")
        else:
            how = "stockman always installs Cilium, and Talos installs no CNI"
            self._foreign.record("cniConfig", entry.key.at, "left out", how)

    def _read_factory(self, entry: MappingEntry) -> None:
        keys = entry.value.entries if isinstance(entry.value, MappingNode) else {}
        for key, setting in keys.items():
            label = f"imageFactory.{key}"
            if key == "registryURL" and isinstance(setting.value, ScalarNode):
                protocol = keys.get("protocol")
                scheme = (
                    protocol.value.text
                    if protocol is not None and isinstance(protocol.value, ScalarNode)
                    else "https"
                )
                address = text_scalar(f"{scheme}://{setting.value.text}", setting.value)
                self._foreign.building.set_value(
                    "talos.factory_url", MappingEntry(setting.key, address, name=label)
                )
                self._foreign.record(label, setting.key.at, "taken", "talos.factory_url")
            elif key == "protocol":
                self._foreign.record(label, setting.key.at, "taken", "part of talos.factory_url")
            else:
                how = "image references follow from factory, platform and schematic"
                self._foreign.record(label, setting.key.at, "left out", how)

    def _read_contract(self) -> None:
        """Set the contract of the Talos version, as talhelper does."""
        foreign, value = self._foreign, self._tree.get("talosVersion")
        if value is None:
            at = self._tree.at
            foreign.building.set_value(
                "talos.version",
                MappingEntry(_scalar("talosVersion", at), _scalar(NEWEST_VERSION[1:], at)),
            )
            how = f"talhelper 3.1.16 defaults to {NEWEST_VERSION}"
            foreign.record("talosVersion", at, "changed", how)
        text = value.text if isinstance(value, ScalarNode) else NEWEST_VERSION
        at = self._tree.at if value is None else value.at
        if HIDDEN_VALUE_PREFIX in text or not set_contract(foreign, text, at):
            return
        foreign.building.set_value(
            "talos.contract",
            MappingEntry(_scalar("talosVersion", at), _scalar(foreign.contract, at)),
        )


def _scalar(text: str, at: Position) -> ScalarNode:
    return ScalarNode(text, at, plain=False, span=(0, 0))


def _encrypted_value_problem(key: str, value: ScalarNode) -> Problem:
    name = value.text.partition(HIDDEN_VALUE_PREFIX)[2]
    return Problem(
        code="import.variable",
        what=f"the value of {key} is encrypted",
        where=value.at,
        why="encrypted files are not decrypted, because their values would become plain text",
        fix=f"pass `--variable {name}=...`, if it is not secret",
    )
