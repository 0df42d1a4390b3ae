"""`topf.yaml` and its patches: layers for all machines, for a role, for one machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from urllib.parse import urlsplit

from stockman.catalog.app import SECRET_MARK
from stockman.config.source.tree import SequenceNode as ListNode
from stockman.config.writers.yaml_writer import Commented, render_yaml
from stockman.config.writers.yaml_writer import render_yaml_document as yaml_document
from stockman.model.desired import Cluster, Desired, Node
from stockman.model.names import NodeName
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret, holds_secret
from stockman.rendering.renovate import MARKERS
from stockman.talos.documents import Document
from stockman.talos.machine.configuration import machine_documents, reveal_document
from stockman.talos.machine.gen_config import (
    GenConfigOptions,
    generate_config,
    without_bundle_values,
)
from stockman.talos.patches.patch import Patch, read_documents
from stockman.talos.schematic import node_image
from stockman.talos.secrets.bundle import SecretsBundle

Documents = tuple[Document, ...]


@record
class Layers:
    """Documents for all machines, per role and per machine; merged in this order."""

    all: Documents
    roles: Mapping[str, Documents]
    nodes: Mapping[NodeName, Documents]


def build_layers(machines: Mapping[NodeName, tuple[str, Documents]]) -> Layers:
    """Return the layers of machines, each with its role and documents."""
    shared = _common_documents([documents for _, documents in machines.values()])
    own_layers = {name: (role, _subtract(own, shared)) for name, (role, own) in machines.items()}
    by_role: dict[str, list[Documents]] = {}
    for role, own in own_layers.values():
        by_role.setdefault(role, []).append(own)
    roles = {role: _common_documents(own) for role, own in by_role.items()}
    return Layers(
        all=shared,
        roles={role: documents for role, documents in roles.items() if documents},
        nodes={
            name: left
            for name, (role, own) in own_layers.items()
            if (left := _subtract(own, roles[role]))
        },
    )


def common_part(first: Document, second: Document) -> Document:
    """Return what both documents contain; lists are compared as a whole."""
    common: Document = {}
    for key, value in first.items():
        if key not in second:
            continue
        theirs = second[key]
        if value == theirs:
            common[key] = value
        elif isinstance(value, dict) and isinstance(theirs, dict):
            inner = common_part(value, theirs)
            if inner:
                common[key] = inner
    return common


def _common_documents(machines: Sequence[Documents]) -> Documents:
    """Return what several machines share; a single machine shares nothing."""
    if len(machines) == 1:
        return ()
    first, *remaining = machines
    shared_documents: list[Document] = []
    for document in first:
        if "kind" in document:
            if all(document in documents_of_other for documents_of_other in remaining):
                shared_documents.append(document)
        else:
            both = reduce(
                common_part,
                (_main_document(documents_of_other) for documents_of_other in remaining),
                document,
            )
            shared_documents += [both] if both else []
    return tuple(shared_documents)


def _subtract(documents: Documents, shared: Documents) -> Documents:
    left = [document for document in documents if "kind" in document and document not in shared]
    main = _remaining(_main_document(documents), _main_document(shared))
    return (*([main] if main else []), *left)


def _remaining(document: Document, shared: Document) -> Document:
    remaining: Document = {}
    for key, value in document.items():
        if key not in shared:
            remaining[key] = value
        elif isinstance(value, dict) and value != shared[key]:
            known = shared[key]
            remaining[key] = _remaining(value, known if isinstance(known, dict) else {})
    return remaining


def _main_document(documents: Iterable[Document]) -> Document:
    """Return the document without a kind; empty if there is none."""
    return next((document for document in documents if "kind" not in document), {})


File = tuple[str, str | Secret]

_LAYER_PREFIX = "10-stockman"
_FIRST_PATCH = 50


def topf_files(
    desired: Desired,
    bundle: SecretsBundle,
    bundle_file: str,
    patches: Mapping[NodeName, Sequence[Patch]],
    problems: Problems,
) -> Iterator[File]:
    """Return the topf files that result in the same machine configurations, by name."""
    cluster = desired.cluster
    if cluster is None:
        raise ValueError("there are machines but no cluster")
    machines = [_Machine.of(desired, cluster, node, bundle) for node in desired.nodes]
    yield "topf.yaml", yaml_document(_topf(cluster, machines, bundle_file))
    layers = build_layers(
        {machine.node.name: (_role(machine.node), machine.documents) for machine in machines}
    )
    yield from _layer_files(layers)
    for machine in machines:
        # User patches come after ours, as in stockman; a patch for all nodes is repeated for each.
        for number, patch in enumerate(patches.get(machine.node.name, ()), _FIRST_PATCH):
            yield from _patch(f"node/{machine.node.name}/{number}", patch, problems)


@record
class _Machine:
    """One machine for topf."""

    node: Node
    schematic: str
    documents: tuple[Document, ...]
    """Documents that differ from the output of `talosctl gen config`."""

    @classmethod
    def of(cls, desired: Desired, cluster: Cluster, node: Node, bundle: SecretsBundle) -> _Machine:
        main, *more_documents = machine_documents(desired, node, bundle)
        image = node_image(node, cluster.talos, Problems())
        if image is None:
            raise ValueError(f"{node.name} has no image")
        kubernetes = cluster.kubernetes
        base = generate_config(
            GenConfigOptions(
                contract=cluster.talos.contract.line,
                is_controller=node.is_controller,
                cluster_name=cluster.name,
                endpoint=_endpoint(cluster),
                kubernetes=kubernetes.version.tagged,
                installer=image.installer,
            )
        )
        patch = patch_between(without_bundle_values(main), base)
        return cls(
            node=node,
            schematic=image.schematic,
            documents=(*([patch] if patch else []), *more_documents),
        )


def patch_between(ours: Document, theirs: Document) -> Document:
    """Return the patch that turns one document into the other; lists are appended to."""
    difference: Document = {}
    for key, value in ours.items():
        current = theirs.get(key)
        if isinstance(value, dict):
            inner = patch_between(value, current if isinstance(current, dict) else {})
            if inner:
                difference[key] = inner
        elif (
            isinstance(value, list)
            and isinstance(current, list)
            and value[: len(current)] == current
        ):
            if value[len(current) :]:
                difference[key] = value[len(current) :]
        elif value != current and value != []:
            difference[key] = value
    return difference


def _topf(cluster: Cluster, machines: Sequence[_Machine], bundle_file: str) -> dict[str, object]:
    return {
        "clusterName": cluster.name,
        "clusterEndpoint": _endpoint(cluster),
        "talosVersion": Commented(
            value=cluster.talos.version.tagged, above=(MARKERS["talosVersion"],)
        ),
        "kubernetesVersion": Commented(
            value=cluster.kubernetes.version.tagged, above=(MARKERS["kubernetesVersion"],)
        ),
        "factory": urlsplit(cluster.talos.factory_url).netloc,
        "platform": cluster.talos.platform,
        "secretsPath": bundle_file,
        "nodes": [
            {
                "host": str(machine.node.name),
                "ip": str(machine.node.address.ip),
                "role": _role(machine.node),
                "schematicId": machine.schematic,
                **({"secureboot": True} if machine.node.secureboot else {}),
            }
            for machine in machines
        ],
    }


def _layer_files(layers: Layers) -> Iterator[File]:
    folders = chain(
        [("all", layers.all)],
        sorted(layers.roles.items()),
        ((f"node/{name}", documents) for name, documents in layers.nodes.items()),
    )
    for folder, documents in folders:
        plain = [public for document in documents if (public := _public_part(document))]
        hidden = [public for document in documents if (public := _hide_secrets(document))]
        if plain:
            yield f"{folder}/{_LAYER_PREFIX}.yaml", _text(plain)
        if hidden:
            text = Secret(_text([reveal_document(document) for document in hidden]))
            yield f"{folder}/{_LAYER_PREFIX}-secret{SECRET_MARK}yaml", text


def _patch(stem: str, patch: Patch, problems: Problems) -> Iterator[File]:
    if any(isinstance(node, ListNode) for node in read_documents(patch.file, patch.text)):
        problems.error(
            "topf.operations",
            f"topf does not support {patch.label}",
            why="it is a JSON patch, and topf only merges partial configurations",
            fix="write it as a partial configuration",
            at=patch.place,
        )
        return
    name = "-".join(
        "".join(character if character.isalnum() else " " for character in patch.label).split()
    )
    if SECRET_MARK in patch.file:
        yield f"{stem}-{name}{SECRET_MARK}yaml", Secret(patch.text)
    else:
        yield f"{stem}-{name}.yaml", patch.text


def _public_part(document: Document) -> Document:
    """Return the part of a document that is not secret; documents with a kind stay whole."""
    if "kind" in document:
        return {} if holds_secret(document) else document
    return _split_secrets(document, secret=False)


def _hide_secrets(document: Document) -> Document:
    if "kind" in document:
        return document if holds_secret(document) else {}
    return _split_secrets(document, secret=True)


def _split_secrets(document: Document, *, secret: bool) -> Document:
    secrets: Document = {}
    for key, value in document.items():
        if isinstance(value, dict):
            inner = _split_secrets(value, secret=secret)
            if inner or (not value and not secret):
                secrets[key] = inner
        elif holds_secret(value) is secret:
            secrets[key] = value
    return secrets


def _text(documents: Sequence[Document]) -> str:
    return "---\n".join(render_yaml(document) for document in documents)


def _role(node: Node) -> str:
    return "control-plane" if node.is_controller else "worker"


def _endpoint(cluster: Cluster) -> str:
    return cluster.kubernetes.api_endpoint
