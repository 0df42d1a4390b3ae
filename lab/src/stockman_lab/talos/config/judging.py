"""Whether Talos takes a configuration, and what it says if it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from stockman.config.source.tree import MappingNode, ScalarNode, TreeNode
from stockman.model.origin import Position
from stockman.model.problem import Problem, Problems
from stockman.talos.patches.reader import read_documents
from stockman.talos.validation.loader import load_configuration
from stockman.talos.validation.report import RuntimeMode
from stockman.talos.validation.validate import validate
from stockman_lab.talos.config.unreadable import FILE, unreadable
from stockman_lab.talos.config.wording import worded
from stockman_lab.talos.config.wording_form import Wording

_REMEMBERED = 256
_OLDEST = "v1alpha1.Config"
_ONCE = frozenset({"machine.conflict"})
"""Problems of which Talos names the first of a document alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is said of a configuration."""

    unreadable: str = ""
    """Why it cannot be loaded. Empty: it can."""
    errors: tuple[str, ...] = ()
    """What is wrong in it, one each, with the names of documents as the minor tells them."""
    invalid: str = ""
    """All errors in one text, `1 error occurred:` and so on. Empty: none."""
    warnings: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        return not self.unreadable and not self.invalid

    @property
    def message(self) -> str:
        """What `ApplyConfiguration` answers; maintenance mode up to 1.12 puts words before it."""
        return self.unreadable or self.invalid


@lru_cache(maxsize=_REMEMBERED)
def judged(text: bytes, minor: str, mode: str = "cloud", *, strict: bool = False) -> Verdict:
    """The verdict of Talos of a minor on a platform of a mode, `metal` or `cloud`.

    Words are Talos' own where they are known; whether it is taken is decided either way.
    """
    try:
        source = text.decode()
    except UnicodeDecodeError:
        return Verdict(unreadable="decode error: yaml: invalid leading UTF-8 octet")
    refused = unreadable(source, minor)
    if refused:
        return Verdict(unreadable=refused)
    problems = Problems()
    documents = load_configuration(FILE, source, minor, problems) or ()
    problems.extend(validate(documents, minor, RuntimeMode(mode), strict=strict))
    nodes = [
        tree_node
        for tree_node in read_documents(FILE, source)
        if isinstance(tree_node, MappingNode)
    ]
    errors = [(_owner(nodes, one), _worded(nodes, one, minor)) for one in _told(problems)]
    warnings = [
        worded(warning, _value_at(nodes, warning), minor).said for warning in problems.warnings
    ]
    lines = _flat(errors) if minor == "1.11" else _grouped(errors)
    return Verdict(
        errors=tuple(_flat(errors)),
        invalid=multi_error(lines) if lines else "",
        warnings=tuple(warnings),
    )


def multi_error(lines: Sequence[str]) -> str:
    """Several errors in one text, as Talos writes them."""
    head = "1 error occurred:" if len(lines) == 1 else f"{len(lines)} errors occurred:"
    return "\n\t".join([head, *(f"* {line}" for line in lines)]) + "\n\n"


def _told(problems: Problems) -> Iterator[Problem]:
    seen: set[tuple[str, str]] = set()
    for problem in problems.errors:
        key = (problem.code, problem.what.rpartition(" and ")[2])
        if problem.code in _ONCE and key in seen:
            continue
        seen.add(key)
        yield problem


def _worded(nodes: Sequence[MappingNode], problem: Problem, minor: str) -> Wording:
    wording = worded(problem, _value_at(nodes, problem), minor)
    if problem.code in ("machine.spelling", "machine.incomplete", "machine.deprecated"):
        return Wording(wording.code, "", f"warning: {wording.said}")
    return wording


def _flat(errors: list[tuple[str, Wording]]) -> list[str]:
    return [line for _, told in errors for line in told.said.split("\n*\n")]


def _grouped(errors: list[tuple[str, Wording]]) -> list[str]:
    """Errors of the oldest document in one, then documents by name, then the whole."""
    oldest = [
        line
        for owner, told in errors
        if owner == _OLDEST and not told.is_whole
        for line in told.said.split("\n*\n")
    ]
    found = [f"{_OLDEST}: {multi_error(oldest)}"] if oldest else []
    found += [
        f"{owner}: {told.said}" for owner, told in errors if owner != _OLDEST and not told.is_whole
    ]
    return found + [told.said for _, told in errors if told.is_whole]


def _owner(nodes: Sequence[MappingNode], problem: Problem) -> str:
    """The document that a problem is in, as Talos names it."""
    where = problem.where
    line = where.line if isinstance(where, Position) else 1
    node = next((one for one in reversed(nodes) if one.at.line <= line), None)
    if node is None:
        return _OLDEST
    kind, name = (_text(node, key) for key in ("kind", "name"))
    return "/".join(part for part in (kind, name) if part) if kind else _OLDEST


def _text(node: MappingNode, key: str) -> str:
    value = node.get(key)
    return value.text if isinstance(value, ScalarNode) else ""


def _value_at(nodes: Sequence[MappingNode], problem: Problem) -> str:
    where = problem.where
    if not isinstance(where, Position):
        return ""
    return next(
        (scalar_node.text for scalar_node in _scalars(nodes) if scalar_node.at == where), ""
    )


def _scalars(nodes: Sequence[TreeNode]) -> Iterator[ScalarNode]:
    for node in nodes:
        if isinstance(node, ScalarNode):
            yield node
        elif isinstance(node, MappingNode):
            yield from _scalars([entry.value for entry in node.entries.values()])
        else:
            yield from _scalars(node.items)
