"""Configurations that Talos refuses: each a good one with one change, out of `bad.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from stockman.model.origin import Position
from stockman.talos.patches.patch import read_documents
from stockman.talos.patches.schema import MINORS
from stockman.talos.validation.report import RuntimeMode
from tests.talos.validation.bases import base, read, written
from tests.talos.validation.judge import Case

FILE = "machine.yaml"


@dataclass(kw_only=True, eq=False)
class Bad:
    """One configuration, who refuses it, and what we say of it."""

    name: str
    row: dict[str, Any]

    @property
    def refused(self) -> tuple[str, ...]:
        """Minors that refuse it."""
        told = self.row["refused"]
        return self.judged if told == "all" else tuple(told)

    @property
    def judged(self) -> tuple[str, ...]:
        """Minors that can read it otherwise; those that are not `refused` take it."""
        if "only" in self.row:
            return tuple(self.row["only"])
        contract = str(self.row["base"]).partition(" ")[0]
        return MINORS if contract == "none" else MINORS[MINORS.index(contract) :]

    @cached_property
    def case(self) -> Case:
        return Case(_text(self.row), RuntimeMode.METAL, bool(self.row.get("strict")))

    @property
    def place(self) -> Position | None:
        """Where we say it is. None: wherever the YAML ends."""
        if "at" not in self.row:
            return None
        return _place(self.case.text, self.row["at"])


@cache
def bad() -> tuple[Bad, ...]:
    rows = read(Path(__file__).with_name("bad.yaml").read_text(encoding="utf-8"))[0]
    return tuple(Bad(name=row["name"], row=row) for row in rows)


def _text(row: dict[str, Any]) -> str:
    documents: list[dict[str, Any]] = []
    if row["base"] != "none":
        documents = read(base(*row["base"].split(" ")))
    documents = [
        document for document in documents if document.get("kind") not in row.get("drop", [])
    ]
    for path, value in row.get("set", {}).items():
        holder, key = _holder(documents[0], path.split("."))
        holder[key] = value
    for path in row.get("delete", []):
        holder, key = _holder(documents[0], path.split("."))
        del holder[key]
    texts = [written([document]) for document in documents]
    texts += [f"apiVersion: v1alpha1\n{text}\n" for text in row.get("add", [])]
    return "---\n".join(texts)


def _holder(document: Any, path: list[str]) -> tuple[Any, Any]:
    *above, last = [int(step) if step.isdecimal() else step for step in path]
    for step in above:
        document = document[step] if isinstance(step, int) else document.setdefault(step, {})
    return document, last


def _place(text: str, path: str) -> Position:
    documents = read_documents(FILE, text)
    chosen, colon, rest = path.partition(":")
    if not colon:
        chosen, rest = "0", path
    for index, document in enumerate(documents):
        if chosen in (str(index), _kind(document)):
            return _found(document, rest).at
    raise LookupError(path)


def _kind(document: TreeNode) -> str:
    kind = document.get("kind") if isinstance(document, MappingNode) else None
    return kind.text if isinstance(kind, ScalarNode) else ""


def _found(node: TreeNode, path: str) -> TreeNode:
    if not path:
        return node
    if isinstance(node, SequenceNode):
        index, _, rest = path.partition(".")
        return _found(node.items[int(index)], rest)
    assert isinstance(node, MappingNode)
    for key, entry in node.entries.items():
        if path == key or path.startswith(f"{key}."):
            # A key that Talos does not know is named itself, and not what stands behind it.
            return entry.key if key == "sysctl" else _found(entry.value, path[len(key) + 1 :])
    raise LookupError(path)
