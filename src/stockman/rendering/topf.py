"""Comments by which Renovate knows the versions in the line below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from urllib.parse import urlsplit

from stockman.catalog.app import SECRET_MARK
from stockman.config.source.tree import SequenceNode as ListNode
from stockman.config.writers.commented import Commented
from stockman.config.writers.yaml_writer import render_yaml
from stockman.config.writers.yaml_writer import render_yaml_document as yaml_document
from stockman.model.desired import Cluster, Desired, Node
from stockman.model.names import NodeName
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.images import node_image
from stockman.talos.machine.configuration import machine_documents, reveal_document
from stockman.talos.machine.gen_config import (
    GenConfigOptions,
    generate_config,
    without_bundle_values,
)
from stockman.talos.machine.inputs import Document
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.reader import read_documents
from stockman.talos.secrets.bundle import SecretsBundle

MARKERS = {
    "talosVersion": "renovate: datasource=github-releases depName=siderolabs/talos",
    "kubernetesVersion": "renovate: datasource=docker depName=ghcr.io/siderolabs/kubelet",
}


Documents = tuple[Document, ...]


@record
class Layers:
    """Documents by how many machines they are for; merged in this order they give the whole."""

    all: Documents
    roles: Mapping[str, Documents]
    nodes: Mapping[NodeName, Documents]


def build_layers(machines: Mapping[NodeName, tuple[str, Documents]]) -> Layers:
    """The layers of machines, each with its role and documents."""
    shared = _common_documents([documents for _, documents in machines.values()])
    rest = {name: (role, _subtract(own, shared)) for name, (role, own) in machines.items()}
    by_role: dict[str, list[Documents]] = {}
    for role, own in rest.values():
        by_role.setdefault(role, []).append(own)
    roles = {role: _common_documents(own) for role, own in by_role.items()}
    return Layers(
        all=shared,
        roles={role: documents for role, documents in roles.items() if documents},
        nodes={
            name: left
            for name, (role, own) in rest.items()
            if (left := _subtract(own, roles[role]))
        },
    )


def common_part(one: Document, other: Document) -> Document:
    """What two documents both say; lists as a whole."""
    found: Document = {}
    for key, value in one.items():
        if key not in other:
            continue
        theirs = other[key]
        if value == theirs:
            found[key] = value
        elif isinstance(value, dict) and isinstance(theirs, dict):
            inner = common_part(value, theirs)
            if inner:
                found[key] = inner
    return found


def _common_documents(machines: Sequence[Documents]) -> Documents:
    """What several machines share; one alone has everything for itself."""
    if len(machines) == 1:
        return ()
    first, *others = machines
    found: list[Document] = []
    for document in first:
        if "kind" in document:
            if all(document in other for other in others):
                found.append(document)
        else:
            both = reduce(common_part, (_main_document(other) for other in others), document)
            found += [both] if both else []
    return tuple(found)


def _subtract(documents: Documents, shared: Documents) -> Documents:
    left = [one for one in documents if "kind" in one and one not in shared]
    main = _remaining(_main_document(documents), _main_document(shared))
    return (*([main] if main else []), *left)


def _remaining(document: Document, shared: Document) -> Document:
    found: Document = {}
    for key, value in document.items():
        if key not in shared:
            found[key] = value
        elif isinstance(value, dict) and value != shared[key]:
            known = shared[key]
            found[key] = _remaining(value, known if isinstance(known, dict) else {})
    return found


def _main_document(documents: Iterable[Document]) -> Document:
    """The document that has no kind; nothing where there is none."""
    return next((one for one in documents if "kind" not in one), {})


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
    """The files that make topf write the same machine configurations, by name."""
    cluster = desired.cluster
    if cluster is None:
        raise ValueError("machines without a cluster")
    machines = [_Machine.of(desired, cluster, node, bundle) for node in desired.nodes]
    yield "topf.yaml", yaml_document(_topf(cluster, machines, bundle_file))
    found = build_layers({one.node.name: (_role(one.node), one.documents) for one in machines})
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
        rest = patch_between(without_bundle_values(main), base)
        return cls(
            node=node, schematic=image.schematic, documents=(*([rest] if rest else []), *others)
        )


def patch_between(ours: Document, theirs: Document) -> Document:
    """What a patch has to say to make one document of the other; lists go on where they end."""
    found: Document = {}
    for key, value in ours.items():
        other = theirs.get(key)
        if isinstance(value, dict):
            inner = patch_between(value, other if isinstance(other, dict) else {})
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
        plain = [part for one in documents if (part := _public_part(one))]
        hidden = [part for one in documents if (part := _hide_secrets(one))]
        if plain:
            yield f"{folder}/{_LAYER_PREFIX}.yaml", _text(plain)
        if hidden:
            text = Secret(_text([reveal_document(one) for one in hidden]))
            yield f"{folder}/{_LAYER_PREFIX}-secret{SECRET_MARK}yaml", text


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


def _public_part(document: Document) -> Document:
    """What of a document may be read by everybody; documents of a kind stay whole."""
    if "kind" in document:
        return {} if _holds_secret(document) else document
    return _split_secrets(document, secret=False)


def _hide_secrets(document: Document) -> Document:
    if "kind" in document:
        return document if _holds_secret(document) else {}
    return _split_secrets(document, secret=True)


def _split_secrets(document: Document, *, secret: bool) -> Document:
    found: Document = {}
    for key, value in document.items():
        if isinstance(value, dict):
            inner = _split_secrets(value, secret=secret)
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
    return "---\n".join(render_yaml(one) for one in documents)


def _role(node: Node) -> str:
    return "control-plane" if node.is_controller else "worker"


def _endpoint(cluster: Cluster) -> str:
    return cluster.kubernetes.api_endpoint
