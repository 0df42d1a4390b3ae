"""YAML of a tree as objects."""

from __future__ import annotations

import copy
from functools import lru_cache

import yaml

from stockman_lab.kube.api.yaml_bodies import BadYaml, read_yaml_documents
from stockman_lab.kube.objects import Object, Tree, metadata_of

_KEPT = 512


class BuildFailure(Exception):
    """Nothing can be built."""


def not_modelled(what: str) -> BuildFailure:
    """Something that Flux or kustomize does and the lab does not."""
    return BuildFailure(f"{what} is not simulated by the lab")


def documents(content: bytes) -> list[Tree]:
    """All documents of a text but empty ones; raises `BuildFailure`."""
    return copy.deepcopy(list(_read(content)))


def first_document(content: bytes) -> Tree:
    """The first document of a text; raises `BuildFailure`."""
    return next(iter(documents(content)), None)


@lru_cache(_KEPT)
def _read(content: bytes) -> tuple[Tree, ...]:
    try:
        return tuple(tree for tree in read_yaml_documents(content) if tree is not None)
    except BadYaml as error:
        raise BuildFailure(f"MalformedYAMLError: {error}") from None


def objects(content: bytes) -> list[Object]:
    """The objects of a text, those of lists each; raises `BuildFailure`."""
    waiting = documents(content)
    contents: list[Object] = []
    while waiting:
        first = waiting.pop(0)
        if not isinstance(first, dict) or not first.get("kind"):
            raise BuildFailure("missing kind in object")
        if str(first["kind"]).endswith("List") and "items" in first:
            waiting += first["items"] or ()
        elif not metadata_of(first).get("name"):
            raise BuildFailure(f"missing metadata.name in object of kind {first['kind']}")
        else:
            contents.append(first)
    return contents


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else "")


_Dumper.add_representer(str, _text)
_Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]  # trees share nothing


def yaml_text(value: Tree) -> str:
    """A value as YAML: names in order, long lines kept."""
    return yaml.dump(
        value, Dumper=_Dumper, default_flow_style=False, allow_unicode=True, width=float("inf")
    )
