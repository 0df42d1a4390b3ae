"""Patches of a kustomization: strategic merge ones and lists of operations."""

from __future__ import annotations

import json
from collections.abc import Callable

from stockman_lab.kube.flux.kustomize.documents import first_document, objects
from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.flux.kustomize.go_yaml import go_text
from stockman_lab.kube.flux.kustomize.identity import Identity
from stockman_lab.kube.flux.kustomize.merging import merged
from stockman_lab.kube.flux.kustomize.operating import operated
from stockman_lab.kube.flux.kustomize.resource import Resource, Resources, ever_called
from stockman_lab.kube.flux.kustomize.selecting import selected
from stockman_lab.kube.flux.kustomize.words import quoted
from stockman_lab.kube.objects import Object, copied

Read = Callable[[str], bytes]
"""Reads a file that a kustomization names."""


def patch_all(resources: Resources, patch: Object, read: Read) -> None:
    """Apply one entry of `patches`."""
    try:
        text, source = _text(patch, read)
        changes, operations = _read(text, source)
    except BuildFailure as why:
        said = {
            name: patch[name] for name in ("options", "patch", "path", "target") if name in patch
        }
        raise BuildFailure(
            f"trouble configuring builtin PatchTransformer with config: `\n{go_text(said)}`: {why}"
        ) from None
    target = patch.get("target")
    options = patch.get("options") or {}
    if operations:
        if target is None:
            raise BuildFailure(f"must specify a target for JSON patch {source}")
        for one in selected(resources, target):
            one.remember()
            one.content = operated(one.content, operations)
        return
    if target is None:
        for change in changes:
            _merge(_the_one(resources, change), change, options)
    else:
        if len(changes) > 1:
            raise BuildFailure(
                "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set"
                f" `patches.target` field: {source}"
            )
        for one in selected(resources, target):
            _merge(one, changes[0], options)
    resources[:] = [resource for resource in resources if resource.content]


def merge_all(resources: Resources, patch: str, read: Read) -> None:
    """Apply one entry of `patchesStrategicMerge`: a file, or a patch itself."""
    try:
        content = read(patch)
    except BuildFailure:
        content = patch.encode()
    for change in objects(content):
        _merge(_the_one(resources, change), change, {})
    resources[:] = [resource for resource in resources if resource.content]


def _text(patch: Object, read: Read) -> tuple[bytes, str]:
    inline, path = str(patch.get("patch") or "").strip(), str(patch.get("path") or "")
    if bool(inline) is bool(path):
        why = (
            "patch and path can't be set at the same time"
            if inline
            else "must specify one of patch and path in"
        )
        raise BuildFailure(f"{why}\n{go_text(patch)}")
    if inline:
        return inline.encode(), f"[patch: {quoted(inline)}]"
    try:
        return read(path), f'[path: "{path}"]'
    except BuildFailure as why:
        raise BuildFailure(f"failed to get the patch file from path({path}): {why}") from None


def _read(text: bytes, source: str) -> tuple[list[Object], list[Object]]:
    """Patches that are objects, or operations."""
    operations = _operations(text)
    if operations:
        return [], operations
    try:
        return objects(text), []
    except BuildFailure:
        raise BuildFailure(f"unable to parse SM or JSON patch from {source}") from None


def _operations(text: bytes) -> list[Object]:
    try:
        tree = json.loads(text) if text.startswith(b"[") else first_document(text)
    except (ValueError, BuildFailure):
        return []
    is_list = isinstance(tree, list) and all(isinstance(one, dict) for one in tree)
    return tree if is_list else []


def _the_one(resources: Resources, change: Object) -> Resource:
    name = Identity.of(change)
    found = ever_called(resources, name.is_same)
    if len(found) == 1:
        return found[0]
    many = "multiple" if found else "no"
    raise BuildFailure(
        f'no resource matches strategic merge patch "{name}": {many} matches for Id {name};'
        f" failed to find unique target for patch {name}"
    )


def _merge(one: Resource, change: Object, options: Object) -> None:
    before = one.content
    made = merged(before, copied(change))
    if made:
        made["apiVersion"] = before.get("apiVersion")
        if not options.get("allowKindChange"):
            made["kind"] = before.get("kind")
        if not options.get("allowNameChange"):
            made["metadata"]["name"] = before["metadata"]["name"]
            _keep(made["metadata"], before["metadata"], "namespace")
        elif made["metadata"]["name"] != before["metadata"]["name"]:
            one.remember()
    one.content = made


def _keep(metadata: Object, before: Object, name: str) -> None:
    metadata.pop(name, None)
    if name in before:
        metadata[name] = before[name]
