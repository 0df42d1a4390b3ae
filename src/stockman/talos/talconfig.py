"""Write the cluster as a `talconfig.yaml`, for people who use talhelper beside stockman.

Settings that talhelper has a key for are written as that key; all others are patches. Every node
lists all its patches in the order of application, so talhelper's own order (role, node, all) has
no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from stockman.config.writers.yaml_writer import render_yaml
from stockman.config.writers.yaml_writer import render_yaml_document as yaml_document
from stockman.model.compatibility import talos_line
from stockman.model.desired import Cluster, Desired, Node
from stockman.model.errors import Refused
from stockman.model.names import NodeName
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret, holds_secret
from stockman.model.version import Version
from stockman.talos.documents import Document, as_mapping
from stockman.talos.machine.configuration import machine_documents, reveal_document
from stockman.talos.machine.gen_config import (
    GenConfigOptions,
    generate_config,
    without_bundle_values,
)
from stockman.talos.secrets.bundle import SecretsBundle

if TYPE_CHECKING:
    from stockman.talos.patches.patch import Patch

PATCHES = "patches"
"""Directory of patch files, beside `talconfig.yaml`."""
FIRST_UNSUPPORTED = (1, 14)
"""The first contract with documents that no supported talhelper can write."""

_NATIVE_DOCUMENTS = ("HostnameConfig", "ResolverConfig")


@record
class Talconfig:
    """`talconfig.yaml` and the patch files that it references, by relative name."""

    text: str
    patches: dict[str, str]
    secret_patches: dict[str, Secret] = field(default_factory=dict, repr=False)
    """Patches that contain secrets; they must be written encrypted."""


def render_talconfig(
    desired: Desired, bundle: SecretsBundle, patches: Mapping[NodeName, Sequence[Patch]]
) -> Talconfig:
    """Render files from which talhelper generates the same machine configurations.

    `patches` has the patches of each node in order of application. The result contains nothing of
    the bundle: talhelper reads it from its own file.
    """
    cluster = desired.cluster
    if cluster is None:
        raise ValueError("a talconfig without a cluster")
    if cluster.talos.contract.line >= FIRST_UNSUPPORTED:
        raise Refused(_unsupported_contract(cluster.talos.contract))
    files = _PatchFiles()
    nodes = [
        _NodeWriter(cluster, node, machine_documents(desired, node, bundle), files).node(
            patches.get(node.name, ())
        )
        for node in desired.nodes
    ]
    return Talconfig(
        text=yaml_document(_escape_values(_cluster_keys(cluster) | {"nodes": nodes})),
        patches=files.open,
        secret_patches=files.secret,
    )


def _cluster_keys(cluster: Cluster) -> Document:
    kubernetes = cluster.kubernetes
    names = [str(kubernetes.api_addr), *kubernetes.api_tls_sans]
    return {
        "clusterName": cluster.name,
        "talosVersion": _talos_version(cluster).tagged,
        "kubernetesVersion": _kubernetes_version(cluster).tagged,
        "endpoint": kubernetes.api_endpoint,
        "additionalApiServerCertSans": names,
        "additionalMachineCertSans": names,
        "clusterPodNets": [str(kubernetes.pod_cidr)],
        "clusterSvcNets": [str(kubernetes.svc_cidr)],
        "cniConfig": {"name": "none"},
    } | ({"allowSchedulingOnControlPlanes": True} if kubernetes.schedule_on_controllers else {})


def _talos_version(cluster: Cluster) -> Version:
    """Return the version that gives talhelper the right contract."""
    talos = cluster.talos
    same = talos.version.line == talos.contract.line
    return talos.version if same else Version(*talos.contract.line, 0)


def _kubernetes_version(cluster: Cluster) -> Version:
    """Return the version, or one that talhelper accepts for the contract; patches set images."""
    version = cluster.kubernetes.version
    line = talos_line(cluster.talos.contract)
    if line is None or line.kubernetes[0].line <= version.line <= line.kubernetes[1].line:
        return version
    return line.kubernetes_default


class _PatchFiles:
    """Patch files, without duplicates."""

    def __init__(self) -> None:
        self.open: dict[str, str] = {}
        self.secret: dict[str, Secret] = {}

    def add(self, stem: str, text: str) -> str:
        """Return the reference to a file with this text; its name starts with `stem`."""
        file_name = next((name for name, content in self.open.items() if content == text), None)
        if file_name is None:
            taken = {*self.open, *self.secret}
            file_name = _free_file_name(f"{PATCHES}/{stem}", ".yaml", taken)
            self.open[file_name] = text
        return f"@./{file_name}"

    def add_secret(self, stem: str, text: Secret) -> str:
        """Return the reference to a file that must be encrypted."""
        file_name = next((name for name, content in self.secret.items() if content == text), None)
        if file_name is None:
            file_name = _free_file_name(
                f"{PATCHES}/{stem}", ".sops.yaml", {*self.open, *self.secret}
            )
            self.secret[file_name] = text
        return f"@./{file_name}"


def _patch_file(files: _PatchFiles, patch: Patch) -> str:
    stem, text = _slug(patch.label), escape_text(patch.text)
    return files.add_secret(stem, Secret(text)) if ".sops." in patch.file else files.add(stem, text)


class _NodeWriter:
    """Writes one node."""

    def __init__(
        self, cluster: Cluster, node: Node, documents: Sequence[Document], files: _PatchFiles
    ) -> None:
        self._cluster = cluster
        self._node = node
        self._main = without_bundle_values(documents[0])
        self._documents = documents[1:]
        self._files = files

    def node(self, patches: Sequence[Patch]) -> Document:
        node = self._node
        machine = as_mapping(self._main.get("machine"))
        install = as_mapping(machine.get("install"))
        image, _, tag = str(install["image"]).rpartition(":")
        keys: Document = {
            "hostname": node.name,
            "ipAddress": str(node.address.ip),
            "controlPlane": node.is_controller,
        }
        for key, name in (("disk", "installDisk"), ("diskSelector", "installDiskSelector")):
            if key in install:
                keys[name] = install[key]
        if tag == _talos_version(self._cluster).tagged:
            keys["talosImageURL"] = image
        mode: Document = {"mode": self._cluster.talos.platform}
        keys["machineSpec"] = mode | ({"secureboot": True} if node.secureboot else {})
        for key in ("nodeLabels", "nodeAnnotations", "nodeTaints"):
            if key in machine:
                keys[key] = machine[key]
        if "kernel" in machine:
            keys["kernelModules"] = as_mapping(machine.get("kernel"))["modules"]
        keys |= self._network(as_mapping(machine.get("network")))
        return keys | {"patches": self._patches(keys, patches)}

    def _network(self, network: Document) -> Document:
        resolver = next(
            (document for document in self._documents if document.get("kind") == "ResolverConfig"),
            None,
        )
        if resolver is None:
            return {
                name: network[key]
                for key, name in (
                    ("nameservers", "nameservers"),
                    ("disableSearchDomain", "disableSearchDomain"),
                    ("interfaces", "networkInterfaces"),
                )
                if key in network
            }
        servers = resolver["nameservers"]
        return {
            "nameservers": [server["address"] for server in servers if isinstance(server, dict)]
            if isinstance(servers, list)
            else [],
            "disableSearchDomain": True,
        }

    def _patches(self, keys: Document, patches: Sequence[Patch]) -> list[str]:
        node, files = self._node, self._files
        references: list[str] = []
        additions = document_additions(self._main, self._talhelper_document(keys))
        if additions:
            references += self._own_patches([additions], f"stockman-{node.role.value}")
        documents = [
            document
            for document in self._documents
            if document.get("kind") not in _NATIVE_DOCUMENTS
        ]
        if documents:
            references += self._own_patches(documents, f"stockman-{node.name}")
        references += [_patch_file(files, patch) for patch in patches]
        return references

    def _own_patches(self, documents: Sequence[Document], stem: str) -> Iterator[str]:
        plain: list[Document] = []
        hidden: list[Document] = []
        for document in documents:
            if "kind" in document:  # such a document is never split
                (hidden if holds_secret(document) else plain).append(document)
            else:
                plain += [part] if (part := _select_values(document, secret=False)) else []
                hidden += [part] if (part := _select_values(document, secret=True)) else []
        if plain:
            yield self._files.add(stem, escape_text(_text(plain)))
        if hidden:
            text = _text([reveal_document(document) for document in hidden])
            yield self._files.add_secret(f"{stem}-secret", Secret(escape_text(text)))

    def _talhelper_document(self, keys: Document) -> Document:
        """Return the document that talhelper generates from the keys, before any patch."""
        cluster, node = self._cluster, self._node
        names = tuple(map(str, (cluster.kubernetes.api_addr, *cluster.kubernetes.api_tls_sans)))
        made = generate_config(
            GenConfigOptions(
                contract=cluster.talos.contract.line,
                is_controller=node.is_controller,
                cluster_name=cluster.name,
                endpoint=cluster.kubernetes.api_endpoint,
                kubernetes=_kubernetes_version(cluster).tagged,
                pod_networks=(str(cluster.kubernetes.pod_cidr),),
                service_networks=(str(cluster.kubernetes.svc_cidr),),
                machine_names=names,
                api_names=names,
                schedule_on_controllers=cluster.kubernetes.schedule_on_controllers,
                installer=f"{keys.get('talosImageURL')}:{_talos_version(cluster).tagged}",
            )
        )
        machine, section = as_mapping(made.get("machine")), as_mapping(made.get("cluster"))
        as_mapping(section.get("network"))["cni"] = {"name": "none"}
        for key, name in (("disk", "installDisk"), ("diskSelector", "installDiskSelector")):
            if name in keys:
                as_mapping(machine.get("install"))[key] = keys[name]
        for key in ("nodeLabels", "nodeAnnotations", "nodeTaints"):
            if key in keys:
                machine[key] = keys[key]
        if "kernelModules" in keys:
            machine["kernel"] = {"modules": keys["kernelModules"]}
        if "networkInterfaces" in keys:
            machine["network"] = {
                "hostname": keys["hostname"],
                "interfaces": keys["networkInterfaces"],
                "nameservers": keys["nameservers"],
                "disableSearchDomain": keys["disableSearchDomain"],
            }
        return made


def document_additions(ours: Document, theirs: Document) -> Document:
    """Return the values of one document that differ in the other; lists as a whole."""
    additions: Document = {}
    for key, value in ours.items():
        their_value = theirs.get(key)
        if isinstance(value, dict):
            inner = document_additions(value, their_value if isinstance(their_value, dict) else {})
            if inner:
                additions[key] = inner
        elif value != their_value and not (isinstance(value, list) and not value):
            additions[key] = value
    return additions


def escape_text(text: str) -> str:
    """Escape a text so that talhelper's variables and templates leave it unchanged."""
    return text.replace("$", "$$").replace("{{", "{{`{{`}}")


def _escape_values(value: object) -> object:
    """Escape values of `talconfig.yaml`, in which talhelper replaces variables."""
    if isinstance(value, dict):
        return {str(key).replace("$", "$$"): _escape_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_escape_values(item) for item in value]
    return value.replace("$", "$$") if isinstance(value, str) else value


def _text(documents: Sequence[Document]) -> str:
    return "---\n".join(render_yaml(document) for document in documents)


def _select_values(document: Document, *, secret: bool) -> Document:
    """Return only the secret values of a document, or only the others."""
    selected: Document = {}
    for key, value in document.items():
        if isinstance(value, dict):
            inner = _select_values(value, secret=secret)
            if inner:
                selected[key] = inner
        elif holds_secret(value) is secret:
            selected[key] = value
    return selected


def _slug(label: str) -> str:
    """Return a label as a file name: `talos.patches.all[0]` becomes `talos-patches-all-0`."""
    segments = "".join(letter if letter.isalnum() else " " for letter in label).split()
    return "-".join(segments) or "patch"


def _free_file_name(stem: str, suffix: str, taken: set[str]) -> str:
    name, number = f"{stem}{suffix}", 2
    while name in taken:
        name, number = f"{stem}-{number}{suffix}", number + 1
    return name


def _unsupported_contract(contract: Version) -> Problem:
    return Problem(
        code="talconfig.contract",
        what=f"talhelper does not support contract {contract.minor_text}",
        why="talhelper 3.1 supports a draft of Talos 1.14, which lacks documents of the release",
        fix="use `stockman` for these machines, or keep the contract at 1.13",
    )
