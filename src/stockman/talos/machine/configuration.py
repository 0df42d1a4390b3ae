"""Render the documents of a machine configuration, in the order of Talos."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.model.desired import Desired, Node
from stockman.model.errors import Refused
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret, SecretForm
from stockman.talos.go_yaml import dump
from stockman.talos.machine.contract_114 import contract_114_documents
from stockman.talos.machine.inputs import NO_FILES, Document, MachineInputs
from stockman.talos.machine.network import network_documents
from stockman.talos.machine.registries import registry_documents
from stockman.talos.machine.storage import firewall_documents, settings_documents, volume_documents
from stockman.talos.machine.v1alpha1 import v1alpha1_document
from stockman.talos.schematic import node_image
from stockman.talos.secrets.bundle import SecretsBundle


def machine_documents(
    desired: Desired,
    node: Node,
    bundle: SecretsBundle,
    files: Mapping[str, str] = NO_FILES,
) -> list[Document]:
    """Return the documents of one node's configuration, before patches; secrets are `Secret`s.

    `files` has the texts of the files in `list_machine_files`; raises Refused for a missing file.
    """
    if desired.cluster is None:
        raise ValueError("a node without a cluster")
    problems = Problems()
    image = node_image(node, desired.cluster.talos, problems)
    if image is None or problems.errors:
        raise Refused(_first_problem(problems, node))
    machine = MachineInputs(desired, desired.cluster, node, bundle, image, files)
    return list(_documents(machine))


def _documents(machine: MachineInputs) -> Iterator[Document]:
    if machine.contract_at_least(1, 14):
        yield from contract_114_documents(machine)
        return
    yield v1alpha1_document(machine)
    yield from volume_documents(machine)
    if machine.contract_at_least(1, 12):
        yield from registry_documents(machine)
        yield from network_documents(machine)
    yield from settings_documents(machine)
    yield from firewall_documents(machine)


def configuration_text(documents: list[Document]) -> Secret:
    """Return the text of a configuration, which contains every secret in plain text."""
    return Secret("---\n".join(dump(reveal_document(document)) for document in documents))


def reveal_document(document: Document) -> Document:
    """Return a document with every secret in plain text."""
    return {key: _reveal_value(item) for key, item in document.items()}


def _reveal_value(value: object) -> object:
    if isinstance(value, Secret):
        if value.form is not SecretForm.LITERAL:
            raise Refused(_unresolved_problem(value))
        return value.reveal()
    if isinstance(value, dict):
        return reveal_document(value)
    if isinstance(value, list):
        return [_reveal_value(item) for item in value]
    return value


def _unresolved_problem(secret: Secret) -> Problem:
    return Problem(
        code="secret.unresolved",
        what="a secret of the machine configuration is an unresolved reference",
        why=f"{secret.reference} is a reference; the machine would use it literally as the secret",
        fix="resolve references before the configuration is written",
    )


def _first_problem(problems: Problems, node: Node) -> Problem:
    for problem in problems:
        return problem
    raise ValueError(f"no image for {node.name}, and no reason")
