"""Repositories of projects whose definitions clusters take from there, by names and kinds alone."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from importlib.resources import files

from stockman_lab.git.backend import place_of
from stockman_lab.kube.helm.definitions import definitions
from stockman_lab.kube.objects import Object, metadata_of

_TAG = re.compile(r"v\d+\.\d+\.\d+(?:-[0-9a-z.]+)?")
_PREPARED = "upstream_objects.json"


def known_tree(url: str, name: str) -> Mapping[str, bytes] | None:
    """The files of a repository at a tag; None: the lab does not know them."""
    content = _MADE.get(_place(url))
    return None if content is None or not _TAG.fullmatch(name) else content()


def hash_of(url: str, name: str) -> str:
    """The commit that a tag of a known repository is on, made up of its name."""
    return hashlib.sha1(f"{_place(url)} {name}".encode(), usedforsecurity=False).hexdigest()


def _place(url: str) -> str:
    return place_of(url).removesuffix(".git")


def _gateway_api() -> Mapping[str, bytes]:
    return _each_alone("config/crd/standard", "gateway-api")


def _envoy_gateway() -> Mapping[str, bytes]:
    return _each_alone("charts/gateway-helm/charts/crds/crds/generated", "envoy-gateway")


def _multus() -> Mapping[str, bytes]:
    text = files(__package__).joinpath(_PREPARED).read_text("utf-8")
    prepared: list[Object] = json.loads(text)
    return {"deployments/multus-daemonset-thick.yml": _text(definitions("multus") + prepared)}


def _each_alone(folder: str, table: str) -> Mapping[str, bytes]:
    """A file for every definition, named after group and plural."""
    each_alone: dict[str, bytes] = {}
    for definition in definitions(table):
        plural, _, group = str(metadata_of(definition)["name"]).partition(".")
        each_alone[f"{folder}/{group}_{plural}.yaml"] = _text([definition])
    return each_alone


def _text(contents: list[Object]) -> bytes:
    return "\n---\n".join(json.dumps(content) for content in contents).encode()


_MADE: dict[str, Callable[[], Mapping[str, bytes]]] = {
    _place("https://github.com/kubernetes-sigs/gateway-api"): _gateway_api,
    _place("https://github.com/envoyproxy/gateway"): _envoy_gateway,
    _place("https://github.com/k8snetworkplumbingwg/multus-cni"): _multus,
}
