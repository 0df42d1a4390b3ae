"""Machine configurations as plain documents: theirs, ours, and what one finds in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.config.rules import check
from stockman.config.source.tree import untyped
from stockman.config.yaml_writer import dump
from stockman.crypto.certificate_pair import CertificateAndKey
from stockman.model.desired import Desired, Node
from stockman.model.errors import StockmanError
from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.talos.bundle import (
    Authorities,
    ClusterIdentity,
    KubernetesSecrets,
    SecretsBundle,
    TrustdInfo,
)
from stockman.talos.generated import without_bundle
from stockman.talos.imports.foreign import Order, Piece
from stockman.talos.machine.configuration import machine_documents, revealed
from stockman.talos.machine.facts import Document
from stockman.talos.patches.apply import apply_patches, load_documents
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.problems import PatchRefused
from stockman.talos.patches.tree import plain

V1ALPHA1 = "v1alpha1"
Identity = tuple[str, str]
"""Kind and name of a document."""
Configuration = dict[Identity, Document]

_NOBODY = CertificateAndKey(crt="", key=Secret(""))
_NO_BUNDLE = SecretsBundle(
    cluster=ClusterIdentity(id="", secret=Secret("")),
    secrets=KubernetesSecrets(
        bootstraptoken=Secret(""), secretboxencryptionsecret=None, aescbcencryptionsecret=None
    ),
    trustdinfo=TrustdInfo(token=Secret("")),
    certs=Authorities(
        etcd=_NOBODY, k8s=_NOBODY, k8saggregator=_NOBODY, k8sserviceaccount=Secret(""), os=_NOBODY
    ),
)
"""Stands where a bundle is asked for; nothing of it is looked at."""


def identity(document: Document) -> Identity:
    """Kind and name of a document."""
    return str(document.get("kind", V1ALPHA1)), str(document.get("name", ""))


def merged(base: Sequence[Document], pieces: Iterable[Piece], minor: str) -> Configuration:
    """Documents with patches in them; raises PatchRefused."""
    text = "---\n".join(dump(one) for one in base)
    documents = load_documents("the base", text, minor)
    patches = [as_patch(one) for one in pieces]
    return _configuration(plain(one.printed()) for one in apply_patches(documents, patches, minor))


def refusal(refused: PatchRefused, pieces: Iterable[Piece], minor: str) -> Problem:
    """What is said of a patch that does not apply, at its very place where that can be found."""
    for piece in pieces:
        if piece.written is not None:
            try:
                apply_patches((), [piece.written], minor)
            except PatchRefused as precise:
                if precise.problem.what == refused.problem.what:
                    return precise.problem
    return refused.problem


def as_patch(piece: Piece) -> Patch:
    """A piece as a patch that says where it was written."""
    value = untyped(piece.document)
    text = dump(value) if isinstance(value, dict) else "{}\n"
    return Patch(label=piece.label, file=piece.at.file, text=text, place=piece.at)


def desired_of(files: dict[str, str]) -> Desired | Problem:
    """What files mean, or the first thing that is wrong with them."""
    loaded = load({name: text.encode() for name, text in files.items()})
    check(loaded)
    try:
        return resolve(loaded)
    except StockmanError as error:
        return error.problem


def our_base(desired: Desired, node: Node) -> list[Document]:
    """What we make of a node before any patch, without secrets."""
    first, *others = machine_documents(desired, node, _NO_BUNDLE)
    return [revealed(without_bundle(first)), *(revealed(one) for one in others)]


def our_patches(desired: Desired, node: Node) -> list[Patch]:
    """Patches of a node in the order of the configuration."""
    if desired.cluster is None:
        return []
    shared = desired.cluster.talos.patches
    role = shared.controller if node.is_controller else shared.worker
    specific = [*role, *node.patches]
    order: Order = desired.cluster.talos.patch_order
    ordered = [*specific, *shared.all] if order == "talhelper" else [*shared.all, *specific]
    return [
        Patch(
            label=f"a patch of {node.name}",
            file="the result",
            text=dump(one),
            place=Position("the result", 1, 1),
        )
        for one in ordered
        if isinstance(one, dict)
    ]


def our_configuration(desired: Desired, node: Node, minor: str) -> Configuration:
    """What we make of a node, without secrets; raises PatchRefused."""
    text = "---\n".join(dump(one) for one in our_base(desired, node))
    documents = load_documents("the base", text, minor)
    patched = apply_patches(documents, our_patches(desired, node), minor)
    return _configuration(plain(one.printed()) for one in patched)


def value_at(configuration: Configuration, document: Identity, path: Sequence[str]) -> object:
    """What stands at a path; None: nothing, or nothing in it."""
    value: object = configuration.get(document)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if value not in ({}, [], "") else None


def _configuration(documents: Iterable[object]) -> Configuration:
    found: Configuration = {}
    for one in documents:
        filled = _filled(one)
        if isinstance(filled, dict):
            if "kind" not in filled:
                filled = without_bundle(filled)
            found[identity(filled)] = filled
    return found


def _filled(value: object) -> object:
    """Without what is empty."""
    if isinstance(value, dict):
        inner = {key: _filled(item) for key, item in value.items()}
        return {key: item for key, item in inner.items() if item not in ({}, [], "", None)}
    return [_filled(item) for item in value] if isinstance(value, list) else value
