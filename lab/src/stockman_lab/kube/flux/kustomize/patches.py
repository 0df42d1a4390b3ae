"""Patches of a kustomization or a FluxInstance: strategic merge ones and lists of operations."""

from __future__ import annotations

import re
from collections.abc import Callable

from stockman_lab.kube.api.selectors import read_label_selector
from stockman_lab.kube.failures import Failure
from stockman_lab.kube.flux.kustomize.documents import BuildFailure, first_document
from stockman_lab.kube.objects import Object, Tree, metadata_of, part_of
from stockman_lab.kube.patching.json_patch import Unpatched, json_patched, merge_patched
from stockman_lab.kube.patching.strategic import BadPatch, strategically_patched
from stockman_lab.kube.schema.types import Types

Read = Callable[[str], bytes]
"""Reads a file that a kustomization names."""


def patched(objects: list[Object], patches: list[Object], read: Read | None = None) -> list[Object]:
    """Objects with all patches, one after the other; raises `BuildFailure`."""
    for patch in patches:
        text = str(patch.get("patch") or "").encode()
        if patch.get("path") and read is not None:
            text = read(str(patch["path"]))
        change, target = first_document(text), part_of(patch, "target")
        if not any(_is_meant(content, target, change) for content in objects) and not target:
            raise BuildFailure(f"no resource matches the patch {text.decode()}")
        objects = [
            _apply_patch(content, change) if _is_meant(content, target, change) else content
            for content in objects
        ]
    return [content for content in objects if content]


def _is_meant(content: Object, target: Object, change: Tree) -> bool:
    metadata = metadata_of(content)
    if not target:
        name = metadata_of(change).get("name") if isinstance(change, dict) else None
        return isinstance(change, dict) and (change.get("kind"), name) == (
            content["kind"],
            metadata["name"],
        )
    group, _, version = str(content.get("apiVersion")).rpartition("/")
    values = {
        "group": group,
        "version": version,
        "kind": str(content["kind"]),
        "name": str(metadata["name"]),
        "namespace": str(metadata.get("namespace", "")),
    }
    if not all(
        re.fullmatch(str(target[name]), value) for name, value in values.items() if target.get(name)
    ):
        return False
    try:
        return all(
            read_label_selector(str(target.get(f"{part}Selector") or "")).matches(
                metadata.get(f"{part}s") or {}
            )
            for part in ("label", "annotation")
        )
    except Failure as failure:
        raise BuildFailure(failure.message) from None


def _apply_patch(content: Object, change: Tree) -> Object:
    try:
        if isinstance(change, list):
            return json_patched(content, change)
        if not isinstance(change, dict):
            raise BuildFailure("unable to parse SM or JSON patch")
        if change.get("$patch") == "delete":
            return {}
        inner = {k: v for k, v in change.items() if k not in {"apiVersion", "kind", "metadata"}}
        metadata = {k: v for k, v in metadata_of(change).items() if k not in {"name", "namespace"}}
        if metadata:
            inner["metadata"] = metadata
        group, _, version = str(content.get("apiVersion")).rpartition("/")
        types = Types.of_server()
        if types.resource_of_kind(group, version, str(content["kind"])) is None:
            return merge_patched(content, inner)
        shape = types.type_of(group, version, str(content["kind"]))
        return strategically_patched(content, inner, shape)
    except (Unpatched, BadPatch) as error:
        raise BuildFailure(f"the patch does not apply: {error}") from None
