"""Machine configurations as plain documents: theirs, ours, and what one finds in them."""

from __future__ import annotations

import re
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
"""Stands where a bundle is asked for; nothing of it is looked at."""


def document_key(document: Document) -> DocumentKey:
    """Kind and name of a document."""
    return str(document.get("kind", V1ALPHA1)), str(document.get("name", ""))


def merge_patches(
    base: Sequence[Document], pieces: Iterable[ForeignPatch], minor: str
) -> Configuration:
    """Documents with patches in them; raises PatchRefused."""
    text = "---\n".join(render_yaml(one) for one in base)
    documents = load_documents("the base", text, minor)
    patches = [as_patch(one) for one in pieces]
    return _by_key(plain_value(one.printed()) for one in apply_patches(documents, patches, minor))


def patch_problem(refused: PatchRefused, pieces: Iterable[ForeignPatch], minor: str) -> Problem:
    """What is said of a patch that does not apply, at its very place where that can be found."""
    for piece in pieces:
        if piece.written is not None:
            try:
                apply_patches((), [piece.written], minor)
            except PatchRefused as precise:
                if precise.problem.what == refused.problem.what:
                    return precise.problem
    return refused.problem


def as_patch(piece: ForeignPatch) -> Patch:
    """A piece as a patch that says where it was written."""
    value = to_plain_data(piece.document)
    text = render_yaml(value) if isinstance(value, dict) else "{}\n"
    return Patch(label=piece.label, file=piece.at.file, text=text, place=piece.at)


def load_desired(files: dict[str, str]) -> Desired | Problem:
    """What files mean, or the first thing that is wrong with them."""
    loaded = load({name: text.encode() for name, text in files.items()})
    check_rules(loaded)
    try:
        return resolve(loaded)
    except StockmanError as error:
        return error.problem


def base_documents(desired: Desired, node: Node) -> list[Document]:
    """What we make of a node before any patch, without secrets."""
    first, *others = machine_documents(desired, node, _NO_BUNDLE)
    return [
        reveal_document(without_bundle_values(first)),
        *(reveal_document(one) for one in others),
    ]


def node_patches(desired: Desired, node: Node) -> list[Patch]:
    """Patches of a node in the order of the configuration."""
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
            text=render_yaml(one),
            place=Position("the result", 1, 1),
        )
        for one in ordered
        if isinstance(one, dict)
    ]


def node_configuration(desired: Desired, node: Node, minor: str) -> Configuration:
    """What we make of a node, without secrets; raises PatchRefused."""
    text = "---\n".join(render_yaml(one) for one in base_documents(desired, node))
    documents = load_documents("the base", text, minor)
    patched = apply_patches(documents, node_patches(desired, node), minor)
    return _by_key(plain_value(one.printed()) for one in patched)


def value_at(configuration: Configuration, document: DocumentKey, path: Sequence[str]) -> object:
    """What stands at a path; None: nothing, or nothing in it."""
    value: object = configuration.get(document)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if value not in ({}, [], "") else None


def _by_key(documents: Iterable[object]) -> Configuration:
    found: Configuration = {}
    for one in documents:
        filled = _drop_empty(one)
        if isinstance(filled, dict):
            if "kind" not in filled:
                filled = without_bundle_values(filled)
            found[document_key(filled)] = filled
    return found


def _drop_empty(value: object) -> object:
    """Without what is empty."""
    if isinstance(value, dict):
        inner = {key: _drop_empty(item) for key, item in value.items()}
        return {key: item for key, item in inner.items() if item not in ({}, [], "", None)}
    return [_drop_empty(item) for item in value] if isinstance(value, list) else value


V1ALPHA1_KEY = (V1ALPHA1, "")
_DOMAIN = re.compile(r"(?=.*[a-z])[a-z0-9-]+(\.[a-z0-9-]+)+")


def common_value(found: Iterable[list[str]]) -> list[str]:
    """What all say that say anything; nothing where they do not agree."""
    known = [one for one in found if one]
    return known[0] if known and all(one == known[0] for one in known) else []


def list_texts(configuration: Configuration, path: tuple[str, ...]) -> list[str]:
    """A list of texts of the v1alpha1 document."""
    found = value_at(configuration, V1ALPHA1_KEY, path)
    return [str(one) for one in found] if isinstance(found, list) else []


def name_servers(configuration: Configuration) -> list[str]:
    """Name servers, of the document and of the old field."""
    old = list_texts(configuration, ("machine", "network", "nameservers"))
    new = value_at(configuration, ("ResolverConfig", ""), ("nameservers",))
    servers = new if isinstance(new, list) else []
    found = [str(one.get("address")) for one in servers if isinstance(one, dict)]
    return list(dict.fromkeys((*found, *old)))


def time_servers(configuration: Configuration) -> list[str]:
    """Time servers, of the document or else of the old field."""
    old = list_texts(configuration, ("machine", "time", "servers"))
    new = value_at(configuration, ("TimeSyncConfig", ""), ("ntp", "servers"))
    return [str(one) for one in new] if isinstance(new, list) else old


def scheduling(configuration: Configuration) -> list[str]:
    """Whether controllers take work."""
    found = value_at(configuration, V1ALPHA1_KEY, ("cluster", "allowSchedulingOnControlPlanes"))
    return ["true" if found else "false"]


def install_disk(configuration: Configuration) -> str:
    """The disk by its path or serial number. Empty: it is found in another way."""
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
    """Domain names that every machine and every API has."""
    lists = []
    for node in nodes:
        lists.append(list_texts(theirs[node.name], ("machine", "certSANs")))
        if node.is_controller:
            lists.append(list_texts(theirs[node.name], ("cluster", "apiServer", "certSANs")))
    return [
        name
        for name in dict.fromkeys(lists[0] if lists else ())
        if name != api and _DOMAIN.fullmatch(name) and all(name in one for one in lists)
    ]


def configuration_of(documents: Iterable[Document]) -> Configuration:
    """Documents by kind and name."""
    return {(str(one.get("kind", V1ALPHA1)), str(one.get("name", ""))): one for one in documents}
