"""YAML of a tree as objects, told as kustomize tells what is wrong with it."""

from __future__ import annotations

import copy
from functools import lru_cache

from stockman_lab.kube.api.yaml_bodies import BadYaml, read_yaml_documents
from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.flux.kustomize.go_yaml import read_go_yaml
from stockman_lab.kube.objects import Object, Tree, metadata_of

_KEPT = 512


class BadDocument(BuildFailure):
    """A text that is no YAML."""


def documents(content: bytes) -> list[Tree]:
    """All documents of a text but empty ones; raises `BadDocument`."""
    return copy.deepcopy(list(_read(content)))


def first_document(content: bytes) -> Tree:
    """The first document with the types that YAML 1.1 sees in words; raises `BadDocument`."""
    _read(content)
    trees = read_yaml_documents(content)
    return trees[0] if trees else None


@lru_cache(_KEPT)
def _read(content: bytes) -> tuple[Tree, ...]:
    try:
        return tuple(tree for tree in read_go_yaml(content) if tree is not None)
    except BadYaml as why:
        raise BadDocument(str(why)) from None


def objects(content: bytes) -> list[Object]:
    """The objects of a text, those of lists each; raises `BuildFailure`."""
    waiting = [_checked(document) for document in documents(content) if document]
    firsts: list[Object] = []
    while waiting:
        first = waiting.pop(0)
        if str(first.get("kind", "")).endswith("List") and "items" in first:
            waiting += [_checked(one) for one in first["items"] or ()]
        else:
            firsts.append(first)
    return firsts


def _checked(one: Tree) -> Object:
    if not isinstance(one, dict):
        raise BuildFailure("missing Resource metadata")
    if not one.get("kind"):
        raise BuildFailure(f"missing kind in object {_shown(one)}")
    named = metadata_of(one).get("name")
    if not named and not str(one["kind"]).endswith("List"):
        raise BuildFailure(f"missing metadata.name in object {_shown(one)}")
    return one


def _shown(one: Object) -> str:
    metadata = metadata_of(one)
    return (
        f"{{{{{one.get('apiVersion', '')} {one.get('kind', '')}}}"
        f" {{{{{metadata.get('name', '')} {metadata.get('namespace', '')}}}"
        f" {_map(metadata.get('labels'))} {_map(metadata.get('annotations'))}}}}}"
    )


def _map(found: Tree) -> str:
    entries = sorted((found or {}).items())
    return "map[" + " ".join(f"{name}:{value}" for name, value in entries) + "]"
