"""The directory of a talhelper user: `talconfig.yaml` and what it names."""

from __future__ import annotations

import re

from stockman.config.convert.draft import ConfigDraft, text_scalar
from stockman.config.source.text import Unreadable
from stockman.config.source.tree import MappingEntry, MappingNode, ScalarNode
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.talos.imports.files import SOPS, ReadFile, import_bundle, read_text
from stockman.talos.imports.foreign import (
    ForeignCluster,
    check_kubernetes_version,
    list_items,
    missing_file_problem,
    missing_key_problem,
    no_nodes_problem,
    not_a_mapping_problem,
    set_contract,
)
from stockman.talos.imports.talhelper.node_keys import NEWEST_VERSION
from stockman.talos.imports.talhelper.nodes import NodeReader
from stockman.talos.imports.talhelper.patches import PatchReader
from stockman.talos.imports.talhelper.variables import (
    HIDDEN_VALUE_PREFIX,
    Variables,
    substitute_variables,
)

TALCONFIG = "talconfig.yaml"
_ENVIRONMENT = ("talenv.yaml", "talenv.sops.yaml", "talenv.yml", "talenv.sops.yml")
_SECRETS = ("talsecret.yaml", "talsecret.sops.yaml", "talsecret.yml", "talsecret.sops.yml")
_ENDPOINT = re.compile(r"https://([^:/]+):6443/?")
_ADDRESS = re.compile(r"\d+(\.\d+){3}")

_PLAIN_KEYS = {
    "clusterName": "cluster.name",
    "talosVersion": "talos.version",
    "kubernetesVersion": "kubernetes.version",
}
_REQUIRED_KEYS = ("clusterName", "kubernetesVersion", "endpoint", "nodes")
_HANDLED_KEYS = ("domain", "nodes", "controlPlane", "worker", "patches", "inlineManifests")
"""Keys that are looked at where they take effect."""


def talhelper_directory(read: ReadFile, given: Variables) -> ForeignCluster:
    """What the directory says; its problems tell what cannot be read."""
    foreign = ForeignCluster(tool="talhelper", building=ConfigDraft(TALCONFIG), order="talhelper")
    try:
        text = read_text(read, TALCONFIG)
        if text is None:
            foreign.problems.add(missing_file_problem(TALCONFIG, TALCONFIG, "talhelper"))
            return foreign
        variables = _variables(read, given)
        text = substitute_variables(TALCONFIG, text, variables, foreign.problems.add)
        tree = read_yaml(TALCONFIG, text)
    except Unreadable as unreadable:
        foreign.problems.add(unreadable.problem)
        return foreign
    if not foreign.problems.errors:
        patches = PatchReader(foreign, read, variables, text)
        _TalconfigReader(foreign, read, patches, tree).take()
    return foreign


def _variables(read: ReadFile, given: Variables) -> Variables:
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
    values |= given.values
    return Variables(values=values, hidden=frozenset(hidden - set(given.values)))


class _TalconfigReader:
    """Reads the keys of the whole cluster."""

    def __init__(
        self, foreign: ForeignCluster, read: ReadFile, patches: PatchReader, tree: MappingNode
    ) -> None:
        self._foreign = foreign
        self._read = read
        self._patches = patches
        self._tree = tree

    def take(self) -> None:
        foreign, tree = self._foreign, self._tree
        for key in _REQUIRED_KEYS:
            if key not in tree.entries:
                foreign.problems.add(missing_key_problem(key, tree.at, "talhelper"))
        for key, entry in tree.entries.items():
            self._key(key, entry)
        self._contract()
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
                reader.take(index, node)
            else:
                foreign.problems.add(not_a_mapping_problem(f"nodes[{index}]", node.at))
        import_bundle(foreign, self._read, _SECRETS)

    def _key(self, key: str, entry: MappingEntry) -> None:
        foreign, value = self._foreign, entry.value
        at = entry.key.at
        if isinstance(value, ScalarNode) and HIDDEN_VALUE_PREFIX in value.text:
            foreign.problems.add(_encrypted_value_problem(key, value))
            return
        if key in _PLAIN_KEYS and isinstance(value, ScalarNode):
            spelled = text_scalar(
                value.text.removeprefix("v") if "Version" in key else value.text, value
            )
            foreign.building.put(_PLAIN_KEYS[key], MappingEntry(entry.key, spelled, name=key))
            foreign.say(key, at, "taken", _PLAIN_KEYS[key])
        elif key == "endpoint" and isinstance(value, ScalarNode):
            self._endpoint(key, entry, value)
        elif key in ("clusterPodNets", "clusterSvcNets"):
            self._network(key, entry)
        elif key in ("allowSchedulingOnMasters", "allowSchedulingOnControlPlanes"):
            foreign.building.put(
                "kubernetes.schedule_on_controllers", MappingEntry(entry.key, value, name=key)
            )
            foreign.say(key, at, "taken", "kubernetes.schedule_on_controllers")
        elif key == "cniConfig":
            self._cni(entry)
        elif key == "imageFactory":
            self._factory(entry)
        elif key in ("additionalMachineCertSans", "additionalApiServerCertSans"):
            how = "kubernetes.api.tls_sans, and patches for what is no domain name"
            foreign.say(key, at, "changed", how)
        elif key not in _HANDLED_KEYS:
            foreign.say(key, at, "left out", "talhelper has no such key, and passes over it")

    def _endpoint(self, key: str, entry: MappingEntry, value: ScalarNode) -> None:
        found = _ENDPOINT.fullmatch(value.text)
        if found is not None and _ADDRESS.fullmatch(found[1]):
            named = MappingEntry(entry.key, text_scalar(found[1], value), name=key)
            self._foreign.building.put("kubernetes.api.addr", named)
            self._foreign.say(key, entry.key.at, "taken", "kubernetes.api.addr")
        else:
            how = "the API is reached at https://ADDRESS:6443, and the address has to be known"
            self._foreign.say(key, entry.key.at, "left out", how)

    def _network(self, key: str, entry: MappingEntry) -> None:
        path = "kubernetes.pod_cidr" if key == "clusterPodNets" else "kubernetes.svc_cidr"
        found = list_items(entry.value)
        if len(found) != 1:
            how = "exactly one IPv4 network is needed"
            self._foreign.say(key, entry.key.at, "left out", how)
            return
        self._foreign.building.put(path, MappingEntry(entry.key, found[0], name=key))
        self._foreign.say(key, entry.key.at, "taken", path)

    def _cni(self, entry: MappingEntry) -> None:
        name = entry.value.get("name") if isinstance(entry.value, MappingNode) else None
        if isinstance(name, ScalarNode) and name.text == "none":
            self._foreign.say("cniConfig", entry.key.at, "taken", "Talos never installs a CNI here")
        else:
            how = "Cilium is the CNI, and Talos installs none"
            self._foreign.say("cniConfig", entry.key.at, "left out", how)

    def _factory(self, entry: MappingEntry) -> None:
        keys = entry.value.entries if isinstance(entry.value, MappingNode) else {}
        for key, one in keys.items():
            known = f"imageFactory.{key}"
            if key == "registryURL" and isinstance(one.value, ScalarNode):
                protocol = keys.get("protocol")
                scheme = (
                    protocol.value.text
                    if protocol is not None and isinstance(protocol.value, ScalarNode)
                    else "https"
                )
                address = text_scalar(f"{scheme}://{one.value.text}", one.value)
                self._foreign.building.put(
                    "talos.factory_url", MappingEntry(one.key, address, name=known)
                )
                self._foreign.say(known, one.key.at, "taken", "talos.factory_url")
            elif key == "protocol":
                self._foreign.say(known, one.key.at, "taken", "part of talos.factory_url")
            else:
                how = "addresses of images follow from factory, platform and schematic"
                self._foreign.say(known, one.key.at, "left out", how)

    def _contract(self) -> None:
        """The style is that of the version, as talhelper has it."""
        foreign, value = self._foreign, self._tree.get("talosVersion")
        if value is None:
            at = self._tree.at
            foreign.building.put(
                "talos.version",
                MappingEntry(_scalar("talosVersion", at), _scalar(NEWEST_VERSION[1:], at)),
            )
            foreign.say("talosVersion", at, "changed", f"talhelper 3.1.16 takes {NEWEST_VERSION}")
        text = value.text if isinstance(value, ScalarNode) else NEWEST_VERSION
        at = self._tree.at if value is None else value.at
        if HIDDEN_VALUE_PREFIX in text or not set_contract(foreign, text, at):
            return
        foreign.building.put(
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
        why="encrypted files are not opened here, and their values would be in the clear",
        fix=f"give `--variable {name}=...`, if it is no secret",
    )
