"""Build the machine configurations of the nodes, and compare them with others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal

from stockman.adapters.files import create_file
from stockman.adapters.git.probe import LocalGitProbe
from stockman.app.secrets.bundle import open_bundle
from stockman.app.secrets.keyring import Keyring, find_keyring
from stockman.app.secrets.reading import decrypt_file
from stockman.app.secrets.references import ReferenceContext, resolve_secrets
from stockman.app.workspace import machine_patches
from stockman.app.workspace.directory import unreadable_file
from stockman.app.workspace.machine_patches import (
    PatchFiles,
    machine_files,
)
from stockman.app.workspace.validation import validate_files
from stockman.config.load import LoadedConfig
from stockman.config.origin_tree import ConfigDifference
from stockman.config.resolve import resolve
from stockman.config.source.tree import MAX_BYTES, ScalarNode, Unreadable, decode_text
from stockman.config.source.tree import MappingNode as SourceMapping
from stockman.config.source.tree import TreeNode as Source
from stockman.config.template_differences import restoring_key
from stockman.model.desired import Desired, Node
from stockman.model.errors import NotFound, Refused, StockmanError
from stockman.model.names import NodeName
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import MASK, Secret
from stockman.talos.machine.assembly import (
    AssembledConfiguration,
    ConfigurationAssembler,
    runtime_mode,
    trees_text,
)
from stockman.talos.machine.masking import SecretMask, list_secrets
from stockman.talos.machine.patch_sets import check_reserved_paths
from stockman.talos.patches.apply import load_documents, read_patch
from stockman.talos.patches.decode import ConfigDocument
from stockman.talos.patches.encode import REDACTED
from stockman.talos.patches.patch import Patch, PatchRefused
from stockman.talos.patches.schema import Branch, Leaf, iter_leaves, plain_value
from stockman.talos.secrets.bundle import SecretsBundle


class Machines:
    """The machines of a directory and the inputs of their configurations."""

    def __init__(
        self,
        desired: Desired,
        assembly: ConfigurationAssembler,
        masking: Callable[[], SecretMask],
        problems: Problems,
        warnings: tuple[Problem, ...],
    ) -> None:
        self._desired = desired
        self._assembly = assembly
        self._problems = problems
        """Secrets that could not be resolved; only those that a configuration needs matter."""
        self._masking = masking
        self._checked: dict[NodeName, AssembledConfiguration] = {}
        self.warnings = warnings

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self._desired.nodes

    @property
    def assembly(self) -> ConfigurationAssembler:
        """What configurations are built with, for later use."""
        return self._assembly

    @cached_property
    def masking(self) -> SecretMask:
        """Masks secrets wherever a configuration is shown."""
        return self._masking()

    @property
    def minor(self) -> str:
        """The Talos minor version that reads the configurations, such as `1.13`."""
        return self._assembly.minor

    def find(self, name: str) -> Node:
        for node in self.nodes:
            if node.name == name:
                return node
        raise NotFound(
            machine_patches.no_such_machine(name, [str(node.name) for node in self.nodes])
        )

    def assemble(self, node: Node) -> AssembledConfiguration:
        """Return the configuration of a node; refuse if a patch does not apply."""
        return self._checked.get(node.name) or self._assembly.of(node)

    def check(self, nodes: Iterable[Node]) -> Problems:
        """Return problems that Talos would report for these nodes."""
        problems = Problems()
        for node in nodes:
            assembled = self._checked[node.name] = self.assemble(node)
            problems.extend(assembled.validate(runtime_mode(self._desired)))
        return problems

    def documents(self, node: Node, *, show_secrets: bool) -> tuple[Branch, ...]:
        """Return the documents of a configuration as Talos prints them, optionally masked."""
        assembled = self.assemble(node)
        if not show_secrets:
            return tuple(self.masking.mask(document) for document in assembled.canonical())
        try:
            return assembled.reveal_trees()
        except Refused as refused:
            raise Refused(self._reason(refused.problem)) from None

    def _reason(self, problem: Problem) -> Problem:
        """Return why a secret is not available, if known."""
        reference, _, _ = problem.why.partition(" is a reference")
        same = (problem for problem in self._problems if problem.what.endswith(f" {reference}"))
        return next(same, problem)


def load_machines(directory: Path, environment: Mapping[str, str]) -> Machines:
    """Return the machines of a directory; refuse errors, and a bundle that cannot be opened."""
    loaded = validate_files(directory).loaded
    desired = resolve(loaded)
    if desired.cluster is None:
        raise NotFound(machine_patches.no_cluster())
    keyring = find_keyring(directory, environment)
    context = ReferenceContext(directory=directory, keyring=keyring, environment=environment)
    return build_machines(context, loaded, desired, open_bundle(directory, keyring))


def build_machines(
    context: ReferenceContext, loaded: LoadedConfig, desired: Desired, bundle: SecretsBundle
) -> Machines:
    """Return the machines of files already read; refuse invalid patches."""
    keyring = context.keyring
    resolved = resolve_secrets(desired, context)
    problems = Problems()
    files = PatchFiles(context.directory, loaded, problems, _opener(keyring))
    patches = files.patches(desired)
    check_reserved_paths(patches, problems)
    for problem in problems.errors:
        raise PatchRefused(problem)
    texts = machine_files(context.directory, desired)
    return Machines(
        desired,
        ConfigurationAssembler(resolved.desired, bundle, patches, texts),
        lambda: SecretMask(list_secrets(resolved.desired, bundle), files.encrypted),
        resolved.problems,
        (*keyring.problems, *problems.warnings),
    )


def _opener(keyring: Keyring) -> Callable[[bytes, str], bytes]:
    return lambda content, name: decrypt_file(content, name, keyring)


_PRIVATE = 0o700


def write_configurations(
    machines: Machines, nodes: Iterable[Node], directory: Path, *, tag: str, show_secrets: bool
) -> int:
    """Write one private file per node; return the number of files.

    Files of an earlier run are replaced. If files with secrets would be tracked by git, nothing is
    written.
    """
    texts = {
        f"{node.name}.yaml": trees_text(machines.documents(node, show_secrets=show_secrets))
        for node in nodes
    }
    try:
        directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        if show_secrets:
            _check_exposure(directory, texts)
        for name, text in texts.items():
            draft = directory / f".{name}.draft"
            draft.unlink(missing_ok=True)
            create_file(draft, text.encode(), private=True, tag=tag)
            draft.replace(directory / name)
    except OSError as error:
        failed_path = directory if error.filename is None else Path(error.filename)
        raise StockmanError(machine_patches.unwritable_configuration(failed_path, error)) from None
    return len(texts)


def _check_exposure(directory: Path, names: Iterable[str]) -> None:
    repository = LocalGitProbe(directory)
    for name in names:
        if repository.exposure(name) == "tracked":
            raise Refused(machine_patches.configuration_in_git(directory / name))


_UNORDERED = ("machine.certSANs", "cluster.apiServer.certSANs", "certExtraSANs")
"""Lists whose order does not matter."""
_EMPTY = ("", None)
_MASKED = re.compile(rf"(['\"]){re.escape(MASK)}\1")
"""A masked secret in our own output; Talos has a different mask."""

Masking = Callable[[Branch], Branch]
ChangeKind = Literal["added", "removed", "changed"]


@record
class Comparison:
    """Differences between a file and a configuration, and what could not be compared."""

    differences: tuple[ConfigDifference, ...]
    withheld: tuple[str, ...]
    """Secrets that the file masks."""

    @property
    def restored_by(self) -> dict[str, list[str]]:
        """Values that cluster-template may have set, by the key that restores them."""
        keys: dict[str, list[str]] = {}
        for difference in self.differences:
            key = restoring_key(difference.path) if difference.kind != "added" else ""
            if key:
                keys.setdefault(key, []).append(difference.path)
        return keys


def compare_configurations(
    machines: Machines, assembled: AssembledConfiguration, file: Path, *, show_secrets: bool
) -> Comparison:
    """Return changes from a file to the configuration; secrets are compared but shown masked."""
    text = _configuration(file.name, _text(file))
    before = load_documents(file.name, text, machines.minor)
    shown: Masking = _clear if show_secrets else machines.masking.mask
    return _Comparer(shown).compare(_by_label(before), _by_label(assembled.documents))


class _Comparer:
    def __init__(self, shown: Masking) -> None:
        self._mask = shown
        self._differences: list[ConfigDifference] = []
        self._withheld: list[str] = []

    def compare(self, before: Mapping[str, Branch], after: Mapping[str, Branch]) -> Comparison:
        for label, tree in before.items():
            if label in after:
                self._document(label, tree, after[label])
            else:
                self._add(label, "removed", plain_value(self._mask(tree)), None)
        for label, tree in after.items():
            if label not in before:
                self._add(label, "added", None, plain_value(self._mask(tree)))
        return Comparison(differences=tuple(self._differences), withheld=tuple(self._withheld))

    def _document(self, label: str, before: Branch, after: Branch) -> None:
        prefix = "" if label == "v1alpha1" else f"{label}: "
        before_values, after_values = _values(before), _values(after)
        masked_before, masked_after = _values(self._mask(before)), _values(self._mask(after))
        for path, value in before_values.items():
            name = f"{prefix}{path}"
            if path not in after_values:
                self._add(name, "removed", masked_before.get(path, MASK), None)
            elif value == REDACTED and after_values[path] != value:
                self._withheld.append(name)
            elif value != after_values[path]:
                self._add(
                    name, "changed", masked_before.get(path, MASK), masked_after.get(path, MASK)
                )
        for path in after_values:
            if path not in before_values:
                self._add(f"{prefix}{path}", "added", None, masked_after.get(path, MASK))

    def _add(self, path: str, kind: ChangeKind, before: object, after: object) -> None:
        self._differences.append(ConfigDifference(path=path, kind=kind, before=before, after=after))


def _clear(tree: Branch) -> Branch:
    return tree


def _by_label(documents: tuple[ConfigDocument, ...]) -> dict[str, Branch]:
    return {document.label: document.canonical() for document in documents}


def _values(tree: Branch) -> dict[str, object]:
    """Return every value by path; empty values count as absent, and sets are unordered."""
    values: dict[str, object] = {}
    for path, leaf in iter_leaves(tree):
        value = _plain_leaf(leaf)
        if value in _EMPTY:
            continue
        parent = path.rpartition("[")[0]
        values[f"{parent}[{value}]" if parent in _UNORDERED else path] = value
    return values


def _plain_leaf(leaf: Leaf) -> object:
    return leaf.value.reveal() if isinstance(leaf.value, Secret) else leaf.value


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return decode_text(file.name, opened.read(MAX_BYTES + 1))
    except OSError as error:
        raise unreadable_file(file, error) from None
    except Unreadable as unreadable:
        raise StockmanError(unreadable.problem) from None


def _configuration(file: str, text: str) -> str:
    """Return the configuration, also from the output of `talosctl get machineconfig -o yaml`."""
    text = _MASKED.sub(f"\\g<1>{REDACTED}\\g<1>", text)
    if "\nspec:" not in text:
        return text
    for document in read_patch(Patch(label=file, file=file, text=text)):
        spec = _spec(document)
        if spec is not None:
            return spec
    return text


def _spec(document: Source) -> str | None:
    """Return the configuration inside a resource. None: the document is not a resource."""
    if not isinstance(document, SourceMapping) or document.get("metadata") is None:
        return None
    spec = document.get("spec")
    return spec.text if isinstance(spec, ScalarNode) else None
