"""Patches of a FluxInstance, on what the operator made."""

from __future__ import annotations

import re

from stockman_lab.kube.flux.instance_objects import NotBuilt
from stockman_lab.kube.objects import Object, metadata_of, part_of
from stockman_lab.kube.patching.json_patch import Unpatched, json_patched
from stockman_lab.kube.patching.merge_patch import merge_patched
from stockman_lab.kube.patching.strategic import BadPatch, strategically_patched
from stockman_lab.kube.schema.types import Types


def patched(made: list[Object], patches: list[Object], types: Types) -> list[Object]:
    """Objects with all patches, one after the other; raises `NotBuilt`."""
    for patch in patches:
        change = _read(str(patch.get("patch", "")))
        target = part_of(patch, "target")
        made = [_one(one, change, types) if _is_meant(one, target, change) else one for one in made]
    return [one for one in made if one]


def _read(text: str) -> object:
    from stockman_lab.kube.api.yaml_bodies import BadYaml, read_yaml

    try:
        return read_yaml(text.encode())
    except BadYaml as why:
        raise NotBuilt(f"kustomize build failed: unable to parse patch: {why}") from None


def _is_meant(content: Object, target: Object, change: object) -> bool:
    about = metadata_of(content)
    group, _, version = str(content["apiVersion"]).rpartition("/")
    if not target and isinstance(change, dict):
        told = (change.get("kind"), metadata_of(change).get("name"))
        return bool(told == (content["kind"], about["name"]))
    found = {
        "group": group,
        "version": version,
        "kind": str(content["kind"]),
        "name": str(about["name"]),
        "namespace": str(about.get("namespace", "")),
    }
    if not all(
        re.fullmatch(str(target[name]), value) for name, value in found.items() if target.get(name)
    ):
        return False
    return _has_labels(about.get("labels") or {}, str(target.get("labelSelector") or ""))


def _has_labels(labels: Object, selector: str) -> bool:
    wanted = [one.partition("=") for one in selector.split(",") if one]
    return all(labels.get(name.strip()) == value.strip("= ") for name, _, value in wanted)


def _one(content: Object, change: object, types: Types) -> Object:
    try:
        if isinstance(change, list):
            return json_patched(content, change)
        if not isinstance(change, dict):
            return content
        about = {k: v for k, v in metadata_of(change).items() if k not in {"name", "namespace"}}
        inner = {k: v for k, v in change.items() if k not in {"apiVersion", "kind", "metadata"}}
        if about:
            inner["metadata"] = about
        if inner.get("$patch") == "delete":
            return {}
        group, _, version = str(content["apiVersion"]).rpartition("/")
        resource = types.resource_of_kind(group, version, str(content["kind"]))
        if resource is None or resource.is_custom:
            return merge_patched(content, inner)
        shape = types.type_of(group, version, str(content["kind"]))
        return strategically_patched(content, inner, shape)
    except (Unpatched, BadPatch) as why:
        raise NotBuilt(f"kustomize build failed: {why}") from None
