"""The configuration of a machine with all patches in it, every value with its origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stockman.model.desired import Desired, Node
from stockman.model.errors import Refused
from stockman.model.origin import Origin
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret, SecretForm
from stockman.talos.bundle import SecretsBundle
from stockman.talos.go_yaml import dump
from stockman.talos.machine.assembly_forms import explained, two_forms
from stockman.talos.machine.assembly_origins import Sources
from stockman.talos.machine.assembly_patches import PatchSet
from stockman.talos.machine.configuration import machine_documents
from stockman.talos.machine.facts import NO_FILES
from stockman.talos.patches.apply import apply_patches, documents_of
from stockman.talos.patches.documents import Document
from stockman.talos.patches.problems import PatchRefused
from stockman.talos.patches.tree import Branch, Items, Leaf, Tree, plain
from stockman.talos.validation.report import Mode
from stockman.talos.validation.validate import validate


@record
class Assembled:
    """The configuration of one node."""

    node: Node
    minor: str
    """The Talos that reads it, `1.13`."""
    documents: tuple[Document, ...]
    """As they were written; confidential values are `Secret`s, but for those of patches."""

    def printed(self) -> tuple[Branch, ...]:
        """The documents as Talos prints them."""
        return tuple(document.printed() for document in self.documents)

    def revealed(self) -> tuple[Branch, ...]:
        """The same with secrets in the clear; refuses those that are only named."""
        return tuple(_revealed_branch(tree) for tree in self.printed())

    def judged(self, mode: Mode) -> Problems:
        """What Talos would say about it; secrets that are only named count as given."""
        documents = (
            Document(kind=one.kind, tree=_given_branch(one.tree)) for one in self.documents
        )
        return validate(documents, self.minor, mode)

    def text(self) -> Secret:
        """The text of the configuration, with every secret in the clear: itself a secret."""
        return Secret(configuration_text(self.revealed()))


def configuration_text(trees: Iterable[Branch]) -> str:
    """Documents as Talos writes them."""
    return "---\n".join(dump(_fields(tree)) for tree in trees)


class Assembly:
    """Makes the configurations of all nodes of one cluster."""

    def __init__(
        self,
        desired: Desired,
        bundle: SecretsBundle,
        patches: PatchSet,
        files: Mapping[str, str] = NO_FILES,
    ) -> None:
        """`files`: texts of what `named_files` names."""
        if desired.cluster is None:
            raise ValueError("nodes without a cluster")
        self._desired = desired
        self._cluster = desired.cluster
        self._bundle = bundle
        self._patches = patches
        self._files = files
        self._sources = Sources(desired, bundle)
        self.minor = desired.cluster.talos.version.minor_text
        """Whose rules hold for patches: those of the Talos that will read the result."""

    def of(self, node: Node, problems: Problems | None = None) -> Assembled:
        """The configuration of a node; refuses when a patch does not apply.

        With `problems`, patches that do not apply are told there and left out.
        """
        sources = self._sources.of(node)
        made = machine_documents(self._desired, node, self._bundle, self._files)
        base = documents_of((sources.tree(one) for one in made), self.minor)
        patches = self._patches.of(node, self._cluster)
        documents = base
        if patches:
            found = Problems()
            contract = self._cluster.talos.contract
            documents = apply_patches(base, patches, self.minor, found)
            told = [*found, *two_forms(base, documents, contract)]
            for problem in explained(told, contract, self.minor):
                if problems is None:
                    raise PatchRefused(problem)
                problems.add(problem)
        return Assembled(node=node, minor=self.minor, documents=documents)


def mode_of(desired: Desired) -> Mode:
    """How Talos judges the configurations of a cluster: an image that is installed already is
    a cloud's."""
    cluster = desired.cluster
    is_metal = cluster is not None and cluster.talos.platform == "metal"
    return Mode.METAL if is_metal else Mode.CLOUD


def _fields(tree: Branch) -> dict[str, object]:
    return {key: plain(item) for key, item in tree.items()}


def _given_branch(tree: Branch) -> Branch:
    return Branch(tree.origin, {key: _given(item) for key, item in tree.items()})


def _given(tree: Tree) -> Tree:
    if isinstance(tree, Branch):
        return _given_branch(tree)
    if isinstance(tree, Items):
        return Items(tree.origin, [_given(item) for item in tree])
    return Leaf(tree.value.reveal(), tree.origin) if isinstance(tree.value, Secret) else tree


def _revealed_branch(tree: Branch) -> Branch:
    return Branch(tree.origin, {key: _revealed(item) for key, item in tree.items()})


def _revealed(tree: Tree) -> Tree:
    if isinstance(tree, Branch):
        return _revealed_branch(tree)
    if isinstance(tree, Items):
        return Items(tree.origin, [_revealed(item) for item in tree])
    if not isinstance(tree.value, Secret):
        return tree
    if tree.value.form is not SecretForm.LITERAL:
        raise Refused(_unresolved(tree.value, tree.origin))
    return Leaf(tree.value.reveal(), tree.origin)


def _unresolved(secret: Secret, origin: Origin) -> Problem:
    return Problem(
        code="secret.unresolved",
        what="a secret of a machine configuration is only named, not given",
        where=origin.name if origin.is_derived else origin.at,
        why=f"{secret.reference} is a reference; the machine would take it for the secret itself",
        fix="resolve references before a configuration is written",
    )
