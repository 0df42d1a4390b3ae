"""Assemble the configuration of a machine from its documents and patches, with origins.

Many fields of the v1alpha1 document became separate documents, and Talos refuses a configuration
that has both; problems of patches in the wrong form are explained here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from stockman.model.desired import Desired, Node
from stockman.model.errors import Refused
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret, SecretForm
from stockman.model.version import Version
from stockman.talos.documents import Document
from stockman.talos.go_yaml import dump
from stockman.talos.machine.configuration import machine_documents, unresolved_problem
from stockman.talos.machine.inputs import NO_FILES
from stockman.talos.machine.origins import OriginSources
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.apply import apply_patches, documents_of
from stockman.talos.patches.decode import V1ALPHA1, ConfigDocument
from stockman.talos.patches.patch import PatchRefused
from stockman.talos.patches.schema import (
    MINORS,
    Branch,
    Leaf,
    Tree,
    load_schema,
    map_leaves,
    plain_value,
)
from stockman.talos.secrets.bundle import SecretsBundle
from stockman.talos.validation.report import RuntimeMode
from stockman.talos.validation.validate import validate

DOCUMENT_KINDS: dict[str, str] = {
    "machine.network.nameservers": "ResolverConfig",
    "machine.network.searchDomains": "ResolverConfig",
    "machine.network.disableSearchDomain": "ResolverConfig",
    "machine.network.hostname": "HostnameConfig",
    "machine.features.hostDNS": "ResolverConfig",
    "machine.features.stableHostname": "HostnameConfig",
    "machine.features.kubePrism": "KubePrismConfig",
    "machine.features.kubernetesTalosAPIAccess": "KubeTalosAPIAccessConfig",
    "machine.features.imageCache": "ImageCacheConfig",
    "machine.time": "TimeSyncConfig",
    "machine.install": "UnattendedInstallConfig",
    "machine.baseRuntimeSpecOverrides": "CRIBaseRuntimeSpecConfig",
    "machine.kubelet": "KubeletConfig",
    "machine.nodeLabels": "KubeNodeConfig",
    "machine.nodeAnnotations": "KubeNodeConfig",
    "machine.nodeTaints": "KubeNodeConfig",
    "machine.controlPlane.controllerManager": "KubeControllerManagerConfig",
    "machine.controlPlane.scheduler": "KubeSchedulerConfig",
    "cluster.network": "KubeNetworkConfig",
    "cluster.apiServer": "KubeAPIServerConfig",
    "cluster.controllerManager": "KubeControllerManagerConfig",
    "cluster.scheduler": "KubeSchedulerConfig",
    "cluster.proxy": "KubeProxyConfig",
    "cluster.coreDNS": "KubeCoreDNSConfig",
    "cluster.discovery": "DiscoveryServiceConfig",
    "cluster.allowSchedulingOnControlPlanes": "KubeNodeConfig",
}
"""Fields of the v1alpha1 document, and the kind that conflicts with each."""


def check_forms(
    base: Iterable[ConfigDocument], documents: Iterable[ConfigDocument], contract: Version
) -> Iterator[Problem]:
    """Yield problems of patches that use the form of another contract."""
    kinds = {document.kind.name: document.tree for document in documents}
    by_contract = {document.kind.name: document.tree for document in base}
    for path, kind in DOCUMENT_KINDS.items():
        tree = _tree_at(kinds.get(V1ALPHA1), path)
        if tree is None or kind not in kinds:
            continue
        if kind in by_contract:
            if _tree_at(by_contract.get(V1ALPHA1), path) is not None:
                continue  # the contract has both, with different fields
            at = _first_position(tree)
            yield _form_problem(
                f"{path} conflicts with {kind}", at, contract, kind, _document_label(kind)
            )
        else:
            at = _first_position(kinds[kind])
            yield _form_problem(
                f"{kind} conflicts with {path}", at, contract, path, _field_label(path)
            )


def explain_problems(
    problems: Iterable[Problem], contract: Version, minor: str
) -> Iterator[Problem]:
    """Yield the problems; those caused by the wrong form get an explanation."""
    for problem in problems:
        if problem.code == "patch.delete":
            yield _moved_field_problem(problem, contract)
        elif problem.code == "patch.kind":
            yield _unknown_document_problem(problem, minor)
        else:
            yield problem


def _moved_field_problem(problem: Problem, contract: Version) -> Problem:
    """Explain that a field cannot be deleted because the contract has a document for it."""
    if contract.line < (1, 14):
        return problem
    for path, kind in DOCUMENT_KINDS.items():
        if re.search(rf"(^|\s){re.escape(path)}(\.\S+)? cannot be deleted", problem.what):
            why = f"{problem.why}; contract {contract.minor_text} uses {kind} for it"
            return replace(problem, why=why, fix=f"delete it {_document_label(kind)}")
    return problem


def _unknown_document_problem(problem: Problem, minor: str) -> Problem:
    """Explain that a document kind was added in a later Talos."""
    match = re.search(r"v1alpha1 (\w+) is not a document of Talos", problem.what)
    if match is None:
        return problem
    kind = match[1]
    later = [
        later_minor
        for later_minor in MINORS[MINORS.index(minor) + 1 :]
        if kind in load_schema(later_minor).kinds
    ]
    if not later:
        return problem
    fields = [path for path, document_kind in DOCUMENT_KINDS.items() if document_kind == kind]
    instead = f", or write the patch below {' and '.join(fields)}" if fields else ""
    return replace(
        problem,
        why=f"it was added in Talos {later[0]}",
        fix=f"upgrade Talos to {later[0]} first{instead}",
    )


def _form_problem(
    what: str, at: Position | None, contract: Version, has: str, write: str
) -> Problem:
    return Problem(
        code="patch.two-forms",
        what=what,
        where=at or "",
        why=f"contract {contract.minor_text} uses {has} for it, and Talos refuses both at once",
        fix=f"write the patch {write}",
    )


def _document_label(kind: str) -> str:
    return f"in a document with `apiVersion: v1alpha1` and `kind: {kind}`"


def _field_label(path: str) -> str:
    return f"below {path}, in the document without a kind"


def _tree_at(tree: Branch | None, path: str) -> Tree | None:
    """Return the value at a path; None: there is none, or it is empty."""
    value: Tree | None = tree
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Branch) else None
    return value if isinstance(value, Leaf) or value else None


def _first_position(tree: Tree) -> Position | None:
    """Return the position of the first value that was written."""
    for origin in _iter_origins(tree):
        if not origin.is_derived:
            return origin.at
    return None


def _iter_origins(tree: Tree) -> Iterator[Origin]:
    yield tree.origin
    if not isinstance(tree, Leaf):
        for item in tree.values() if isinstance(tree, Branch) else tree:
            yield from _iter_origins(item)


@record
class AssembledConfiguration:
    """The assembled configuration of one node."""

    node: Node
    minor: str
    """The Talos minor that reads it, `1.13`."""
    documents: tuple[ConfigDocument, ...]
    """As written; confidential values are `Secret`s, except in patches."""

    def canonical(self) -> tuple[Branch, ...]:
        """Return the documents as Talos prints them."""
        return tuple(document.canonical() for document in self.documents)

    def reveal_trees(self) -> tuple[Branch, ...]:
        """Return the documents with secrets in plain text; raises Refused for references."""
        return tuple(map_leaves(tree, _reveal_leaf) for tree in self.canonical())

    def validate(self, mode: RuntimeMode) -> Problems:
        """Return the problems that Talos would report; secret references count as values."""
        documents = (
            ConfigDocument(kind=document.kind, tree=map_leaves(document.tree, _reveal_known))
            for document in self.documents
        )
        return validate(documents, self.minor, mode)

    def text(self) -> Secret:
        """Return the text of the configuration, which contains every secret in plain text."""
        return Secret(trees_text(self.reveal_trees()))


def trees_text(trees: Iterable[Branch]) -> str:
    """Return documents as Talos writes them."""
    return "---\n".join(dump(_fields(tree)) for tree in trees)


class ConfigurationAssembler:
    """Assembles the configurations of all nodes of one cluster."""

    def __init__(
        self,
        desired: Desired,
        bundle: SecretsBundle,
        patches: PatchSet,
        files: Mapping[str, str] = NO_FILES,
    ) -> None:
        """`files`: texts of the files in `list_machine_files`."""
        if desired.cluster is None:
            raise ValueError("nodes without a cluster")
        self._desired = desired
        self._cluster = desired.cluster
        self._bundle = bundle
        self._patches = patches
        self._files = files
        self._sources = OriginSources(desired, bundle)
        self.minor = desired.cluster.talos.version.minor_text
        """The minor whose rules apply to patches: the Talos that reads the result."""

    def of(self, node: Node, problems: Problems | None = None) -> AssembledConfiguration:
        """Return the configuration of a node; raises PatchRefused for an invalid patch.

        With `problems`, invalid patches are reported there and left out.
        """
        sources = self._sources.of(node)
        generated = machine_documents(self._desired, node, self._bundle, self._files)
        base = documents_of((sources.tree(document) for document in generated), self.minor)
        patches = self._patches.of(node, self._cluster)
        documents = base
        if patches:
            patch_problems = Problems()
            contract = self._cluster.talos.contract
            documents = apply_patches(base, patches, self.minor, patch_problems)
            all_problems = [*patch_problems, *check_forms(base, documents, contract)]
            for problem in explain_problems(all_problems, contract, self.minor):
                if problems is None:
                    raise PatchRefused(problem)
                problems.add(problem)
        return AssembledConfiguration(node=node, minor=self.minor, documents=documents)


def runtime_mode(desired: Desired) -> RuntimeMode:
    """Return the validation mode of a cluster: images other than metal are installed already,
    like those of a cloud."""
    cluster = desired.cluster
    is_metal = cluster is not None and cluster.talos.platform == "metal"
    return RuntimeMode.METAL if is_metal else RuntimeMode.CLOUD


def _fields(tree: Branch) -> dict[str, object]:
    return {key: plain_value(item) for key, item in tree.items()}


def _reveal_known(leaf: Leaf) -> Leaf:
    return Leaf(leaf.value.reveal(), leaf.origin) if isinstance(leaf.value, Secret) else leaf


def _reveal_leaf(leaf: Leaf) -> Leaf:
    if not isinstance(leaf.value, Secret):
        return leaf
    if leaf.value.form is not SecretForm.LITERAL:
        where = leaf.origin.name if leaf.origin.is_derived else leaf.origin.at
        raise Refused(unresolved_problem(leaf.value, where))
    return Leaf(leaf.value.reveal(), leaf.origin)


_NODE_DOCUMENTS = frozenset(
    {
        "BondConfig",
        "DHCPv4Config",
        "HostnameConfig",
        "Layer2VIPConfig",
        "LinkAliasConfig",
        "LinkConfig",
        "VLANConfig",
    }
)
"""Documents of a single machine; without them Talos uses DHCP and metadata."""
_NODE_NETWORK_FIELDS = ("hostname", "interfaces")
_TAINT: Document = {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}
"""Keeps pods away until the autoscaler has registered the node."""


def render_worker_template(trees: Iterable[Branch]) -> Secret:
    """Return the configuration of a worker as a Go template without placeholders.

    Double braces are escaped.
    """
    documents = [_add_taint(document) for document in _common_documents(trees)]
    text = "---\n".join(dump(document) for document in documents)
    return Secret(text.replace("{{", '{{ "{{" }}'))


def _common_documents(trees: Iterable[Branch]) -> Iterator[Document]:
    for tree in trees:
        document = plain_value(tree)
        if not isinstance(document, dict) or document.get("kind") in _NODE_DOCUMENTS:
            continue
        machine = document.get("machine")
        if isinstance(machine, dict) and isinstance(machine.get("network"), dict):
            network = {
                key: value
                for key, value in machine["network"].items()
                if key not in _NODE_NETWORK_FIELDS
            }
            document = {**document, "machine": {**machine, "network": network}}
        yield document


def _add_taint(document: Document) -> Document:
    if document.get("kind") == "KubeletConfig":
        return {**document, "config": _taint_settings(document.get("config"))}
    machine = document.get("machine")
    if not isinstance(machine, dict) or not isinstance(machine.get("kubelet"), dict):
        return document
    kubelet = machine["kubelet"]
    settings = {**kubelet, "extraConfig": _taint_settings(kubelet.get("extraConfig"))}
    return {**document, "machine": {**machine, "kubelet": settings}}


def _taint_settings(settings: object) -> Document:
    fields = settings if isinstance(settings, dict) else {}
    taints = fields.get("registerWithTaints")
    return {**fields, "registerWithTaints": [*(taints if isinstance(taints, list) else []), _TAINT]}
