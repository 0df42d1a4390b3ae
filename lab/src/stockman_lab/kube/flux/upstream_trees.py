"""Repositories of projects whose definitions clusters take from there, by names and kinds alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from importlib.resources import files

from stockman_lab.kube.flux.known_trees import Tree, register
from stockman_lab.kube.helm.definitions import definitions
from stockman_lab.kube.objects import Object, metadata_of

_TAG = re.compile(r"v\d+\.\d+\.\d+(?:-[0-9a-z.]+)?")
_PREPARED = "upstream_objects.json"


def register_upstream() -> None:
    """Have these repositories known at every tag that looks like a release."""
    for url, made in _MADE.items():
        register(url, _at_releases(made))


def _at_releases(made: Callable[[], Mapping[str, bytes]]) -> Tree:
    return lambda name: made() if _TAG.fullmatch(name) else None


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
    "https://github.com/kubernetes-sigs/gateway-api": _gateway_api,
    "https://github.com/envoyproxy/gateway": _envoy_gateway,
    "https://github.com/k8snetworkplumbingwg/multus-cni": _multus,
}
