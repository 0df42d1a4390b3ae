"""Bodies in YAML, with the types that the server's library sees in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite, isnan

import yaml

from stockman_lab.kube.objects import Tree
from stockman_lab.kube.schema.reading import DEEPEST, whole_text

_BOOLEAN = re.compile(
    r"^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$"
)
_INTEGER = re.compile(r"^[-+]?(?:0b[01_]+|0o?[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$")
_FLOAT = re.compile(
    r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)"
    r"|\.(?:nan|NaN|NAN))$"
)
_TRUE = frozenset({"y", "yes", "true", "on"})
_TAG = "tag:yaml.org,2002:"
_FEW_NODES = 100
_MANY_NODES, _MOST_NODES = 400_000, 4_000_000
_MOST_ALIASED, _LEAST_ALIASED = 0.99, 0.10
"""How much of a document may be what it said before: less, the larger it is."""


class BadYaml(Exception):
    """A text that is not YAML."""


class _Loader(yaml.SafeLoader):
    """Without dates and times of day, which stay texts."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, form) for tag, form in yaml_implicit_resolver if tag[len(_TAG) :] in {"null", "merge"}
    ]
    for first, yaml_implicit_resolver in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(f"{_TAG}bool", _BOOLEAN, list("yYnNtTfFoO"))
_Loader.add_implicit_resolver(f"{_TAG}int", _INTEGER, list("-+0123456789"))
_Loader.add_implicit_resolver(f"{_TAG}float", _FLOAT, list("-+0123456789."))


def _truth(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> bool:
    return str(loader.construct_scalar(node)).lower() in _TRUE


def _integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int | str:
    text = str(loader.construct_scalar(node))
    return text if len(text) > _FEW_NODES else int(loader.construct_yaml_int(node))


def _mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> Iterator[dict[str, Tree]]:
    trees: dict[str, Tree] = {}
    yield trees
    loader.flatten_mapping(node)
    for key, value in node.value:
        name = loader.construct_object(key, deep=True)
        if isinstance(name, dict | list):
            raise BadYaml(f"yaml: invalid map key: {name}")
        trees[_key(name)] = loader.construct_object(value, deep=True)


def _whatever(loader: yaml.SafeLoader, _tag: str, node: yaml.Node) -> Tree:
    """What is tagged in a way that nobody knows is what it looks like."""
    if isinstance(node, yaml.MappingNode):
        return {
            _key(loader.construct_object(key, deep=True)): loader.construct_object(one, deep=True)
            for key, one in node.value
        }
    if isinstance(node, yaml.SequenceNode):
        return [loader.construct_object(one, deep=True) for one in node.value]
    return node.value


_Loader.add_constructor(f"{_TAG}map", _mapping)
_Loader.add_multi_constructor("", _whatever)
_Loader.add_constructor(f"{_TAG}bool", _truth)
_Loader.add_constructor(f"{_TAG}int", _integer)


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # may lack
    """The same for long texts, with the scanner in C where there is one."""


_FastLoader.yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers
_FastLoader.add_constructor(f"{_TAG}bool", _truth)


def read_yaml(body: bytes) -> Tree:
    """The first document of a text as JSON; raises `BadYaml`."""
    if not _is_shallow(body):
        raise BadYaml(f"the lab takes no document of more than {DEEPEST} levels")
    try:
        loader = _Loader(_text(body))
        node = loader.get_node() if loader.check_node() else None
        if node is None:
            return None
        _check_aliases(node)
        construct_document = loader.construct_document(node)
    except yaml.MarkedYAMLError as why:
        raise BadYaml(f"yaml: {_in_words_of_go(why)}") from None
    except yaml.reader.ReaderError:
        raise BadYaml("yaml: control characters are not allowed") from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as why:
        raise BadYaml("yaml: " + str(why).replace("\n", " ")) from None
    return _as_json(construct_document)


def read_yaml_documents(body: bytes) -> list[Tree]:
    """All documents of a text as JSON; raises `BadYaml`."""
    try:
        return [_as_json(one) for one in yaml.load_all(body, Loader=_FastLoader)]
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as why:
        raise BadYaml(str(why).replace("\n", " ")) from None


_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"\xef\xbb": "utf-8-sig"}


def _text(body: bytes) -> str:
    try:
        return body.decode(_MARKS.get(body[:2], "utf-8")).removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise BadYaml("yaml: invalid leading UTF-8 octet") from None


def _is_shallow(body: bytes) -> bool:
    """Whether a text can be read without going too deep; brackets in texts count as well."""
    depth = deepest = 0
    for sign in re.findall(rb"[{}\[\]]", body):
        depth += 1 if sign in b"{[" else -1
        deepest = max(deepest, depth)
    lines = re.findall(rb"^[ ]*(?:[-?:][ ]+)*", body, re.MULTILINE)
    widest = max((len(line) for line in lines), default=0)
    return deepest <= DEEPEST and widest // 2 <= DEEPEST


def _parts(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _anchor(node: yaml.Node) -> str:
    """The name before a part of a document, which is not kept otherwise."""
    mark = node.start_mark
    found = re.search(r"&([^\s,\[\]{}]+)\s*$", (mark.buffer or "")[: mark.pointer])
    found = found or re.match(r"&([^\s,\[\]{}]+)", (mark.buffer or "")[mark.pointer :])
    return found[1] if found else ""


def _check_aliases(top: yaml.Node) -> None:
    """Refuse what contains itself, and what says little very often."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node, inside: tuple[int, ...]) -> int:
        place = id(node)
        if place in inside:
            raise BadYaml(f"yaml: anchor '{_anchor(node)}' value contains itself")
        if len(inside) > DEEPEST:
            raise BadYaml(f"the lab takes no document of more than {DEEPEST} levels")
        if place not in sizes:
            within = (*inside, place)
            sizes[place] = 1 + sum(size(one, within) for one in _parts(node))
        return sizes[place]

    total = size(top, ())
    aliased = (total - len(sizes)) / total
    if total > _FEW_NODES and aliased > _allowed(total):
        raise BadYaml("yaml: document contains excessive aliasing")


def _allowed(total: int) -> float:
    if total <= _MANY_NODES:
        return _MOST_ALIASED
    if total >= _MOST_NODES:
        return _LEAST_ALIASED
    part = (total - _MANY_NODES) / (_MOST_NODES - _MANY_NODES)
    return _MOST_ALIASED - (_MOST_ALIASED - _LEAST_ALIASED) * part


_INDICATOR = "'-' indicator"
_WORDS = (
    ("mapping values are not allowed", "mapping values are not allowed in this context"),
    ("expected the node content", "did not find expected node content"),
    ("expected ',' or '}'", "did not find expected ',' or '}'"),
    ("expected ',' or ']'", "did not find expected ',' or ']'"),
    ("expected '<document start>'", "did not find expected <document start>"),
    ("that cannot start any token", "found character that cannot start any token"),
)


def _in_words_of_go(why: yaml.MarkedYAMLError) -> str:
    problem = why.problem or "unknown problem parsing YAML content"
    alias = re.match(r"found undefined alias '?([^']*)'?", problem)
    if alias:
        return f"unknown anchor '{alias[1]}' referenced"
    if problem.startswith("expected <block end>"):
        is_list = "sequence" in (why.context or "")
        problem = f"did not find expected {_INDICATOR if is_list else 'key'}"
    problem = next((words for begin, words in _WORDS if begin in problem), problem)
    mark = why.context_mark if why.context_mark and why.context_mark.line else why.problem_mark
    line = 0 if mark is None else mark.line
    if line and isinstance(why, yaml.scanner.ScannerError):
        line += 1
    return f"line {line}: {problem}" if line else problem


def _as_json(value: Tree) -> Tree:
    if isinstance(value, dict):
        return {_key(name): _as_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_as_json(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        word = "NaN" if isnan(value) else "+Inf" if value > 0 else "-Inf"
        raise BadYaml(f"json: unsupported value: {word}")
    if isinstance(value, int | float | bool | None):
        return value
    return whole_text(str(value))


def _key(name: Tree) -> str:
    if isinstance(name, bool):
        return "true" if name else "false"
    return "null" if name is None else whole_text(str(name))
