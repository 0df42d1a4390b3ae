"""YAML as clients and repositories write it, as the values that JSON has."""

from __future__ import annotations

import re
from math import isfinite

import yaml

from stockman_lab.kube.objects import Tree
from stockman_lab.kube.schema.reading import TooDeep, check_depth

_TAG = "tag:yaml.org,2002:"
_KEPT = {f"{_TAG}{name}" for name in ("null", "merge", "int", "float")}


class BadYaml(Exception):
    """A text that is not YAML."""


class _Loader(yaml.SafeLoader):
    """With the words of YAML 1.2 for truth, and without dates and times of day."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in resolvers if tag in _KEPT]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    f"{_TAG}bool", re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # may lack
    """The same in C: for files of repositories, as it crashes on very deep documents."""


_FastLoader.yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers


def read_yaml(body: bytes) -> Tree:
    """The first document of a text as JSON; raises `BadYaml`."""
    return next(iter(_read(body, _Loader)), None)


def read_yaml_documents(body: bytes) -> list[Tree]:
    """All documents of a file as JSON; raises `BadYaml`."""
    return _read(body, _FastLoader)


def _read(body: bytes, loader: type[yaml.SafeLoader]) -> list[Tree]:
    try:
        trees = [_as_json(document) for document in yaml.load_all(body, Loader=loader)]
        for tree in trees:
            check_depth(tree)
        return trees
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError, TooDeep) as error:
        raise BadYaml("yaml: " + str(error).replace("\n", " ")) from None


def _as_json(value: Tree) -> Tree:
    if isinstance(value, dict):
        return {_key(name): _as_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        raise BadYaml(f"json: unsupported value: {value}")
    return value


def _key(name: Tree) -> str:
    if isinstance(name, bool):
        return str(name).lower()
    return "null" if name is None else str(name)
