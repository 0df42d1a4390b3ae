"""Why Talos cannot load a configuration, in the words of its loader."""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

from stockman.config.source.tree import MappingNode, ScalarNode, TreeNode
from stockman.model.origin import Position
from stockman.model.problem import Problem, Problems
from stockman.talos.go_yaml import dump
from stockman.talos.patches.patch import InvalidValue
from stockman.talos.patches.reader import read_documents
from stockman.talos.patches.schema import SchemaType, load_schema
from stockman.talos.validation.loader import load_configuration

FILE = "config"
_PATH = re.compile(r"(?:the value of )?(?P<path>\S+) (?:does not fit|is no field)")
_CLASH = re.compile(r"^(?P<one>\w+)(?: (?P<first>\S+))? and (?P<two>\w+)(?: (?P<second>\S+))? can")
_TAGS = {"int": "!!int", "float": "!!float", "bool": "!!bool", "null": "!!null"}
_NO_CONFIG = "config not found"
_PANIC = "recovered: expected a mapping node"
_TWICE = re.compile(r"^the key (?P<key>.*) stands in this mapping already$")
_STEP = re.compile(r"\w[^.\[]*|\[\d+\]")


def unreadable(text: str, minor: str) -> str:
    """What the loader says of a text. Empty: it loads it."""
    broken = _yaml_error(text, minor)
    if broken:
        return broken
    try:
        nodes = [
            tree_node
            for tree_node in read_documents(FILE, text)
            if isinstance(tree_node, MappingNode)
        ]
    except InvalidValue as misfit:
        return _odd(text, misfit, minor)
    problems = Problems()
    if load_configuration(FILE, text, minor, problems) is not None:
        return "" if nodes else _NO_CONFIG
    found = list(problems)
    if not nodes:
        return f"expected a YAML document at line {_line(found[0])}" if minor >= "1.13" else _PANIC
    return _first(nodes, found, minor)


def _odd(text: str, misfit: InvalidValue, minor: str) -> str:
    """What is YAML, but none that Talos takes: keys that stand twice."""
    line = misfit.at.line if misfit.at is not None else 1
    twice = _TWICE.match(misfit.why)
    if twice is None:
        return f"decode error: yaml: line {line}: {misfit.why}"
    column = " " * (misfit.at.column - 1 if misfit.at is not None else 0)
    above = text.split("\n")[: line - 1]
    same = f"{column}{twice['key']}:"
    first = max((at for at, one in enumerate(above, 1) if one.startswith(same)), default=line)
    said = f'line {line}: mapping key "{twice["key"]}" already defined at line {first}'
    if minor < "1.13":
        return f"error decoding  to *v1alpha1.Config: yaml: unmarshal errors:\n  {said}"
    gap = " " if minor >= "1.14" else "\n  "
    head = "error decoding document /v1alpha1/ (line 1): error decoding  to *v1alpha1.Config: "
    return f"{head}yaml: construct errors:{gap}{said}"


def _line(problem: Problem) -> int:
    return problem.where.line if isinstance(problem.where, Position) else 1


def _yaml_error(text: str, minor: str) -> str:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for _ in yaml.parse(text, Loader=loader):
            pass
    except yaml.reader.ReaderError as error:
        return f"decode error: yaml: {error.reason}"
    except yaml.MarkedYAMLError as error:
        return f"decode error: {_marked(error, minor)}"
    return ""


def _marked(error: yaml.MarkedYAMLError, minor: str) -> str:
    is_scanned = isinstance(error, yaml.scanner.ScannerError)
    problem, where = error.problem_mark, error.context_mark
    said, context = error.problem or "", error.context or ""
    if minor >= "1.14":
        last = f"L{problem.line + 1}.C{problem.column + 1}" if problem is not None else ""
        first = f"L{where.line + 1}.C{where.column + 1}-" if where is not None else ""
        first = "" if first == f"{last}-" else first
        part = "scanner" if is_scanned else "parser"
        during = f" ({context})" if context else ""
        return f"go-yaml load error in {part}{during} at {first}{last}: {said}"
    more = 1 if is_scanned else 0
    if minor >= "1.13" and where is not None and problem is not None:
        at = f"{context} at line {where.line + more}, column {where.column + 1}"
        return f"yaml: {at}: line {problem.line + more}: {said}"
    mark = where if where is not None and where.line else problem
    line = f"line {mark.line + more}: " if mark is not None and mark.line else ""
    return f"yaml: {line}{said}"


def _first(nodes: Sequence[MappingNode], found: list[Problem], minor: str) -> str:
    """Talos stops at the first document that it cannot load."""
    starts = [node.at.line for node in nodes]
    for index, node in enumerate(nodes):
        end = starts[index + 1] if index + 1 < len(starts) else None
        own = [one for one in found if _inside(one, starts[index], end)]
        if own and own[0].code != "machine.clash":
            return _of_document(node, own, minor)
    clash = next((_CLASH.search(one.what) for one in found if one.code == "machine.clash"), None)
    if clash is None:
        return found[0].what
    one, two = (
        "/".join(part for part in clash.group(*names) if part)
        for names in (("one", "first"), ("two", "second"))
    )
    if one == two:
        return "duplicate v1alpha1.Config" if one == "v1alpha1" else f"duplicate document: {one}"
    return f"conflicting documents: {two} and {one}"


def _inside(problem: Problem, first: int, end: int | None) -> bool:
    where = problem.where
    if not isinstance(where, Position):
        return False
    return where.line >= first and (end is None or where.line < end)


def _of_document(node: MappingNode, own: list[Problem], minor: str) -> str:
    version, kind, name = (_raw(node, key) for key in ("apiVersion", "kind", "name"))
    is_newer = minor >= "1.13"
    label = f"{version}/{kind or 'v1alpha1'}/{name}"
    code = own[0].code
    if code == "machine.twice":
        line = f" (line {node.at.line})" if is_newer else ""
        return f"duplicate document {label} is not allowed{line}"
    refusal = _refusal(node, own, minor, kind, version)
    return (
        f"error decoding document {label} (line {node.at.line}): {refusal}" if is_newer else refusal
    )


def _refusal(node: MappingNode, own: list[Problem], minor: str, kind: str, version: str) -> str:
    misfits = [one for one in own if one.code == "machine.value"]
    if misfits:
        return _misfit(node, misfits, minor, kind)
    if own[0].code == "machine.kind":
        if not kind:
            return "missing kind"
        if not version:
            return "missing apiVersion" if minor >= "1.13" else f'"{kind}" "": not registered'
        return f'"{kind}" "{version}": not registered'
    tree: dict[str, object] = {}
    for problem in own:
        match = _PATH.search(problem.what)
        if match is not None:
            _grow(tree, node, _STEP.findall(match["path"]))
    return f"unknown keys found during decoding:\n{dump(tree)}"


def _grow(tree: dict[str, object], node: TreeNode, path: list[str]) -> None:
    """Add an unknown key with all that stands under it, items of lists as lists of one."""
    *above, last = path
    for place, step in enumerate(above):
        if step.startswith("["):
            items = getattr(node, "items", [])
            node = items[int(step[1:-1])]
            continue
        is_list = (*above, last)[place + 1].startswith("[")
        value = node.get(step) if isinstance(node, MappingNode) else None
        inner: dict[str, object] = {}
        held = tree.setdefault(step, [inner] if is_list else inner)
        held = held[0] if isinstance(held, list) else held
        if value is None or not isinstance(held, dict):
            return
        tree, node = held, value
    found = node.get(last) if isinstance(node, MappingNode) else None
    tree[last] = _value(found)


def _value(node: TreeNode | None) -> object:
    if isinstance(node, MappingNode):
        return {key: _value(entry.value) for key, entry in node.entries.items()}
    if isinstance(node, ScalarNode):
        return yaml.safe_load(node.text) if node.plain else node.text
    return [_value(item) for item in node.items] if node is not None else None


def _misfit(node: MappingNode, misfits: list[Problem], minor: str, kind: str) -> str:
    known = load_schema(minor).kinds.get(kind or "v1alpha1")
    lines = []
    for problem in misfits:
        match = _PATH.search(problem.what)
        if match is None or known is None or not isinstance(problem.where, Position):
            continue
        path = match["path"]
        if problem.why == "a null is not allowed here":
            return f'null value is not allowed at "{path}" (line {problem.where.line})'
        steps = _STEP.findall(path)
        value, type_ = _descended(node, known.type, steps)
        verb = "construct" if minor >= "1.13" else "unmarshal"
        lines.append(f"line {problem.where.line}: cannot {verb} {_shown(value)} into {type_}")
    if known is None or not lines:
        return misfits[0].what
    verb = "construct" if minor >= "1.13" else "unmarshal"
    told = f" {lines[0]}" if minor >= "1.14" and len(lines) == 1 else "\n  " + "\n  ".join(lines)
    return f"error decoding {kind} to *{known.type.name}: yaml: {verb} errors:{told}"


def _descended(
    node: TreeNode | None, type_: SchemaType, steps: list[str]
) -> tuple[TreeNode | None, str]:
    for step in steps:
        while type_.kind == "pointer":
            type_ = type_.element
        if step.startswith("["):
            items = getattr(node, "items", [])
            place = int(step.strip("[]"))
            node = items[place] if place < len(items) else None
            type_ = type_.element
            continue
        node = node.get(step) if isinstance(node, MappingNode) else None
        if type_.kind == "struct":
            field = type_.named.get(step)
            if field is None:
                return node, type_.name
            type_ = field.type
        else:
            type_ = type_.element
    while type_.kind == "pointer":
        type_ = type_.element
    return node, type_.name


def _shown(node: TreeNode | None) -> str:
    if isinstance(node, MappingNode):
        return "!!map"
    if not isinstance(node, ScalarNode):
        return "!!seq"
    value = yaml.safe_load(node.text) if node.plain and node.text else node.text
    tag = _TAGS.get(type(value).__name__, "!!str")
    short = node.text if len(node.text) <= 10 else f"{node.text[:7]}..."
    return f"{tag} `{short}`"


def _raw(node: MappingNode, key: str) -> str:
    value = node.get(key)
    return value.text if isinstance(value, ScalarNode) and not value.is_null else ""
