"""Compare a node's configuration with one in a file by meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from stockman.app.machine_config.machines import Machines
from stockman.app.workspace.machine_patches import unreadable_configuration
from stockman.config.origin_tree import ConfigDifference
from stockman.config.source.tree import MAX_BYTES, ScalarNode, Unreadable, decode_text
from stockman.config.source.tree import MappingNode as SourceMapping
from stockman.config.source.tree import TreeNode as Source
from stockman.model.errors import StockmanError
from stockman.model.record import record
from stockman.model.secret import MASK, Secret
from stockman.talos.machine.assembly import AssembledConfiguration
from stockman.talos.patches.apply import load_documents, read_patch
from stockman.talos.patches.documents import ConfigDocument
from stockman.talos.patches.encode import REDACTED
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.tree import Branch, Leaf, iter_leaves, plain_value

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
        shown_one, shown_other = _values(self._mask(before)), _values(self._mask(after))
        for path, value in before_values.items():
            name = f"{prefix}{path}"
            if path not in after_values:
                self._add(name, "removed", shown_one.get(path, MASK), None)
            elif value == REDACTED and after_values[path] != value:
                self._withheld.append(name)
            elif value != after_values[path]:
                self._add(name, "changed", shown_one.get(path, MASK), shown_other.get(path, MASK))
        for path in after_values:
            if path not in before_values:
                self._add(f"{prefix}{path}", "added", None, shown_other.get(path, MASK))

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
        raise StockmanError(unreadable_configuration(file, error)) from None
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
