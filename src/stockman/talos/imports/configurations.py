"""Machine configurations as plain documents: those of the other tool and ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.config.source.tree import to_plain_data
from stockman.config.writers.yaml_writer import render_yaml
from stockman.crypto.pem import CertificateAndKey
from stockman.model.desired import Desired, Node
from stockman.model.errors import StockmanError
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.talos.imports.foreign import ForeignNode, ForeignPatch, PatchOrder
from stockman.talos.machine.configuration import machine_documents, reveal_document
from stockman.talos.machine.gen_config import without_bundle_values
from stockman.talos.machine.inputs import Document
from stockman.talos.patches.apply import apply_patches, load_documents
from stockman.talos.patches.patch import Patch, PatchRefused
from stockman.talos.patches.tree import plain_value
from stockman.talos.secrets.bundle import (
    ClusterAuthorities,
    ClusterIdentity,
    KubernetesSecrets,
    SecretsBundle,
    TrustdSecrets,
)

V1ALPHA1 = "v1alpha1"
DocumentKey = tuple[str, str]
"""Kind and name of a document."""
Configuration = dict[DocumentKey, Document]

_EMPTY_PAIR = CertificateAndKey(crt="", key=Secret(""))
_NO_BUNDLE = SecretsBundle(
    cluster=ClusterIdentity(id="", secret=Secret("")),
    secrets=KubernetesSecrets(
        bootstraptoken=Secret(""), secretboxencryptionsecret=None, aescbcencryptionsecret=None
    ),
    trustdinfo=TrustdSecrets(token=Secret("")),
    certs=ClusterAuthorities(
        etcd=_EMPTY_PAIR,
        k8s=_EMPTY_PAIR,
        k8saggregator=_EMPTY_PAIR,
        k8sserviceaccount=Secret(""),
        os=_EMPTY_PAIR,
    ),
)
"""Used where a function needs a bundle but its values do not matter."""


def document_key(document: Document) -> DocumentKey:
    """Return kind and name of a document."""
    return str(document.get("kind", V1ALPHA1)), str(document.get("name", ""))


def merge_patches(
    base: Sequence[Document], patches: Iterable[ForeignPatch], minor: str
) -> Configuration:
    """Return the documents with the patches applied; raises PatchRefused."""
    text = "---\n".join(render_yaml(document) for document in base)
    documents = load_documents("the base", text, minor)
    applied = apply_patches(documents, [as_patch(patch) for patch in patches], minor)
    return _by_key(plain_value(document.canonical()) for document in applied)


def patch_problem(refused: PatchRefused, patches: Iterable[ForeignPatch], minor: str) -> Problem:
    """Return the problem of a refused patch, with its exact position where that can be found."""
    for patch in patches:
        if patch.written is not None:
            try:
                apply_patches((), [patch.written], minor)
            except PatchRefused as error:
                if error.problem.what == refused.problem.what:
                    return error.problem
    return refused.problem


def as_patch(patch: ForeignPatch) -> Patch:
    """Return a foreign patch as a Patch that knows its position."""
    value = to_plain_data(patch.document)
    text = render_yaml(value) if isinstance(value, dict) else "{}\n"
    return Patch(label=patch.label, file=patch.at.file, text=text, place=patch.at)


def load_desired(files: dict[str, str]) -> Desired | Problem:
    """Return the desired state that the files describe, or the first problem."""
    loaded = load({name: text.encode() for name, text in files.items()})
    check_rules(loaded)
    try:
        return resolve(loaded)
    except StockmanError as error:
        return error.problem


def base_documents(desired: Desired, node: Node) -> list[Document]:
    """Return the documents that stockman renders for a node before any patch, without secrets."""
    first, *following = machine_documents(desired, node, _NO_BUNDLE)
    return [
        reveal_document(without_bundle_values(first)),
        *(reveal_document(document) for document in following),
    ]


def node_patches(desired: Desired, node: Node) -> list[Patch]:
    """Return the patches of a node in the configured order."""
    if desired.cluster is None:
        return []
    shared = desired.cluster.talos.patches
    role = shared.controller if node.is_controller else shared.worker
    specific = [*role, *node.patches]
    order: PatchOrder = desired.cluster.talos.patch_order
    ordered = [*specific, *shared.all] if order == "talhelper" else [*shared.all, *specific]
    return [
        Patch(
            label=f"a patch of {node.name}",
            file="the result",
            text=render_yaml(document),
            place=Position("the result", 1, 1),
        )
        for document in ordered
        if isinstance(document, dict)
    ]


def node_configuration(desired: Desired, node: Node, minor: str) -> Configuration:
    """Return the configuration that stockman renders for a node, without secrets.

    Raises PatchRefused.
    """
    text = "---\n".join(render_yaml(document) for document in base_documents(desired, node))
    documents = load_documents("the base", text, minor)
    patched = apply_patches(documents, node_patches(desired, node), minor)
    return _by_key(plain_value(document.canonical()) for document in patched)


def value_at(configuration: Configuration, document: DocumentKey, path: Sequence[str]) -> object:
    """Return the value at a path. None: there is none, or it is empty."""
    value: object = configuration.get(document)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if value not in ({}, [], "") else None


def _by_key(documents: Iterable[object]) -> Configuration:
    by_key: Configuration = {}
    for document in documents:
        filled = _drop_empty(document)
        if isinstance(filled, dict):
            if "kind" not in filled:
                filled = without_bundle_values(filled)
            by_key[document_key(filled)] = filled
    return by_key


def _drop_empty(value: object) -> object:
    """Return a value without empty members."""
    if isinstance(value, dict):
        inner = {key: _drop_empty(item) for key, item in value.items()}
        return {key: item for key, item in inner.items() if item not in ({}, [], "", None)}
    return [_drop_empty(item) for item in value] if isinstance(value, list) else value


V1ALPHA1_KEY = (V1ALPHA1, "")
_DOMAIN = pattern(r"(?=.*[a-z])[a-z0-9-]+(\.[a-z0-9-]+)+")


def common_value(values: Iterable[list[str]]) -> list[str]:
    """Return the value of all machines that have one. Empty: they do not agree."""
    known = [value for value in values if value]
    return known[0] if known and all(value == known[0] for value in known) else []


def list_texts(configuration: Configuration, path: tuple[str, ...]) -> list[str]:
    """Return a list of texts of the v1alpha1 document."""
    items = value_at(configuration, V1ALPHA1_KEY, path)
    return [str(item) for item in items] if isinstance(items, list) else []


def name_servers(configuration: Configuration) -> list[str]:
    """Return the name servers of the document and of the old field."""
    old = list_texts(configuration, ("machine", "network", "nameservers"))
    new = value_at(configuration, ("ResolverConfig", ""), ("nameservers",))
    servers = new if isinstance(new, list) else []
    addresses = [str(server.get("address")) for server in servers if isinstance(server, dict)]
    return list(dict.fromkeys((*addresses, *old)))


def time_servers(configuration: Configuration) -> list[str]:
    """Return the time servers of the document, or else of the old field."""
    old = list_texts(configuration, ("machine", "time", "servers"))
    new = value_at(configuration, ("TimeSyncConfig", ""), ("ntp", "servers"))
    return [str(server) for server in new] if isinstance(new, list) else old


def scheduling(configuration: Configuration) -> list[str]:
    """Return "true" if pods may run on controllers, else "false"."""
    allowed = value_at(configuration, V1ALPHA1_KEY, ("cluster", "allowSchedulingOnControlPlanes"))
    return ["true" if allowed else "false"]


def install_disk(configuration: Configuration) -> str:
    """Return the disk by its path or serial number. Empty: it is selected in another way."""
    disk = value_at(configuration, V1ALPHA1_KEY, ("machine", "install", "disk"))
    if isinstance(disk, str):
        return disk
    selector = value_at(configuration, V1ALPHA1_KEY, ("machine", "install", "diskSelector"))
    if not isinstance(selector, dict):
        return ""
    return str(selector["serial"]) if list(selector) == ["serial"] else "*"


def common_domains(
    nodes: Iterable[ForeignNode], theirs: dict[str, Configuration], api: str
) -> list[str]:
    """Return the domain names that are SANs of every machine and every API server."""
    lists = []
    for node in nodes:
        lists.append(list_texts(theirs[node.name], ("machine", "certSANs")))
        if node.is_controller:
            lists.append(list_texts(theirs[node.name], ("cluster", "apiServer", "certSANs")))
    return [
        name
        for name in dict.fromkeys(lists[0] if lists else ())
        if name != api and _DOMAIN.fullmatch(name) and all(name in names for names in lists)
    ]


def configuration_of(documents: Iterable[Document]) -> Configuration:
    """Return documents by kind and name."""
    return {
        (str(document.get("kind", V1ALPHA1)), str(document.get("name", ""))): document
        for document in documents
    }
