"""`topf.yaml` and its patches: what all machines share, what a role shares, what is one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from urllib.parse import urlsplit

from stockman.catalog.app import SECRET_MARK
from stockman.config.noted import Noted
from stockman.config.source.tree import Sequence as ListNode
from stockman.config.yaml_writer import document as yaml_document
from stockman.config.yaml_writer import dump
from stockman.model.desired import Cluster, Desired, Node
from stockman.model.names import NodeName
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.topf_layers import Layers, layers
from stockman.rendering.version_markers import MARKERS
from stockman.talos.bundle import SecretsBundle
from stockman.talos.generated import Wishes, generated, without_bundle
from stockman.talos.machine.configuration import machine_documents, revealed
from stockman.talos.machine.facts import Document
from stockman.talos.node_image import node_image
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.reading import read_documents

File = tuple[str, str | Secret]

_OURS = "10-stockman"
_FIRST_PATCH = 50


def topf_files(
    desired: Desired,
    bundle: SecretsBundle,
    bundle_file: str,
    patches: Mapping[NodeName, Sequence[Patch]],
    problems: Problems,
) -> Iterator[File]:
    """The files that make topf write the same machine configurations, by name."""
    cluster = desired.cluster
    if cluster is None:
        raise ValueError("machines without a cluster")
    machines = [_Machine.of(desired, cluster, node, bundle) for node in desired.nodes]
    yield "topf.yaml", yaml_document(_topf(cluster, machines, bundle_file))
    found = layers({one.node.name: (_role(one.node), one.documents) for one in machines})
    yield from _layer_files(found)
    for one in machines:
        # After all of ours, as stockman applies them: a patch for all nodes stands with each.
        for number, patch in enumerate(patches.get(one.node.name, ()), _FIRST_PATCH):
            yield from _patch(f"node/{one.node.name}/{number}", patch, problems)


@record
class _Machine:
    """What topf has to be told of one machine."""

    node: Node
    schematic: str
    documents: tuple[Document, ...]
    """What `talosctl gen config` does not make by itself."""

    @classmethod
    def of(cls, desired: Desired, cluster: Cluster, node: Node, bundle: SecretsBundle) -> _Machine:
        main, *others = machine_documents(desired, node, bundle)
        image = node_image(node, cluster.talos, Problems())
        if image is None:
            raise ValueError(f"{node.name} has no image")
        kubernetes = cluster.kubernetes
        base = generated(
            Wishes(
                contract=cluster.talos.contract.line,
                is_controller=node.is_controller,
                cluster_name=cluster.name,
                endpoint=_endpoint(cluster),
                kubernetes=kubernetes.version.tagged,
                installer=image.installer,
            )
        )
        rest = added(without_bundle(main), base)
        return cls(
            node=node, schematic=image.schematic, documents=(*([rest] if rest else []), *others)
        )


def added(ours: Document, theirs: Document) -> Document:
    """What a patch has to say to make one document of the other; lists go on where they end."""
    found: Document = {}
    for key, value in ours.items():
        other = theirs.get(key)
        if isinstance(value, dict):
            inner = added(value, other if isinstance(other, dict) else {})
            if inner:
                found[key] = inner
        elif isinstance(value, list) and isinstance(other, list) and value[: len(other)] == other:
            if value[len(other) :]:
                found[key] = value[len(other) :]
        elif value != other and value != []:
            found[key] = value
    return found


def _topf(cluster: Cluster, machines: Sequence[_Machine], bundle_file: str) -> dict[str, object]:
    return {
        "clusterName": cluster.name,
        "clusterEndpoint": _endpoint(cluster),
        "talosVersion": Noted(value=cluster.talos.version.tagged, above=(MARKERS["talosVersion"],)),
        "kubernetesVersion": Noted(
            value=cluster.kubernetes.version.tagged, above=(MARKERS["kubernetesVersion"],)
        ),
        "factory": urlsplit(cluster.talos.factory_url).netloc,
        "platform": cluster.talos.platform,
        "secretsPath": bundle_file,
        "nodes": [
            {
                "host": str(one.node.name),
                "ip": str(one.node.address.ip),
                "role": _role(one.node),
                "schematicId": one.schematic,
                **({"secureboot": True} if one.node.secureboot else {}),
            }
            for one in machines
        ],
    }


def _layer_files(found: Layers) -> Iterator[File]:
    folders = chain(
        [("all", found.all)],
        sorted(found.roles.items()),
        ((f"node/{name}", documents) for name, documents in found.nodes.items()),
    )
    for folder, documents in folders:
        plain = [part for one in documents if (part := _open(one))]
        hidden = [part for one in documents if (part := _hidden(one))]
        if plain:
            yield f"{folder}/{_OURS}.yaml", _text(plain)
        if hidden:
            text = Secret(_text([revealed(one) for one in hidden]))
            yield f"{folder}/{_OURS}-secret{SECRET_MARK}yaml", text


def _patch(stem: str, patch: Patch, problems: Problems) -> Iterator[File]:
    if any(isinstance(one, ListNode) for one in read_documents(patch.file, patch.text)):
        problems.error(
            "topf.operations",
            f"topf cannot take {patch.label}",
            why="it is a list of operations, and topf merges parts of configurations only",
            fix="write the patch as the part of the configuration that it changes",
            at=patch.place,
        )
        return
    name = "-".join("".join(one if one.isalnum() else " " for one in patch.label).split())
    if SECRET_MARK in patch.file:
        yield f"{stem}-{name}{SECRET_MARK}yaml", Secret(patch.text)
    else:
        yield f"{stem}-{name}.yaml", patch.text


def _open(document: Document) -> Document:
    """What of a document may be read by everybody; documents of a kind stay whole."""
    if "kind" in document:
        return {} if _holds_secret(document) else document
    return _parted(document, secret=False)


def _hidden(document: Document) -> Document:
    if "kind" in document:
        return document if _holds_secret(document) else {}
    return _parted(document, secret=True)


def _parted(document: Document, *, secret: bool) -> Document:
    found: Document = {}
    for key, value in document.items():
        if isinstance(value, dict):
            inner = _parted(value, secret=secret)
            if inner or (not value and not secret):
                found[key] = inner
        elif _holds_secret(value) is secret:
            found[key] = value
    return found


def _holds_secret(value: object) -> bool:
    if isinstance(value, dict):
        return any(_holds_secret(item) for item in value.values())
    if isinstance(value, list):
        return any(_holds_secret(item) for item in value)
    return isinstance(value, Secret)


def _text(documents: Sequence[Document]) -> str:
    return "---\n".join(dump(one) for one in documents)


def _role(node: Node) -> str:
    return "control-plane" if node.is_controller else "worker"


def _endpoint(cluster: Cluster) -> str:
    return cluster.kubernetes.api_endpoint
