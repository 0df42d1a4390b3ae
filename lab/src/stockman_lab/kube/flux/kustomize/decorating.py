"""Labels, annotations, images and numbers of replicas that a kustomization sets."""

from __future__ import annotations

import re

from stockman.crypto.sops.selectors import compile_go_regex
from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.flux.kustomize.fields import change_at, change_where, is_one_of
from stockman_lab.kube.flux.kustomize.resource import Resources, ever_called
from stockman_lab.kube.flux.kustomize.tables import Paths, table
from stockman_lab.kube.objects import Object, Tree

_SCALED = ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")
_SCALED_SHOWN = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
_IMAGES = (
    "spec/containers[]/image",
    "spec/initContainers[]/image",
    "spec/volumes[]/image/reference",
    "spec/template/spec/containers[]/image",
    "spec/template/spec/initContainers[]/image",
    "spec/template/spec/volumes[]/image/reference",
)
_PARTS = r"(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$"


def add_common_labels(resources: Resources, labels: Object) -> None:
    """Labels everywhere, also where others select by them."""
    _add(resources, labels, table().selector_labels)


def add_labels(resources: Resources, entry: Object) -> None:
    """One entry of `labels`."""
    own = entry.get("fields") or []
    paths: Paths = {}
    for one in own:
        kind = " ".join(str(one.get(part) or "*") for part in ("kind", "group", "version"))
        path = f"{'+' if one.get('create') else ''}{one.get('path', '')}"
        paths.setdefault(path, []).append(kind)
    if entry.get("includeSelectors"):
        paths |= table().selector_labels
    else:
        paths |= table().template_labels if entry.get("includeTemplates") else {}
        paths |= table().claim_labels if entry.get("includeVolumeClaimTemplates") else {}
        paths["+metadata/labels"] = ["*"]
    _add(resources, entry.get("pairs") or {}, paths)


def add_annotations(resources: Resources, annotations: Object) -> None:
    """Annotations of objects and of their templates."""
    _add(resources, annotations, table().annotations)


def _add(resources: Resources, words: Object, paths: Paths) -> None:
    if not words:
        return
    texts = {name: _text(value) for name, value in words.items()}

    def added(value: Tree) -> Tree:
        if not isinstance(value, dict):
            raise BuildFailure("wrong node kind: expected MappingNode but got ScalarNode")
        return {**value, **texts}

    for resource in resources:
        change_where(resource.content, paths, added, {})


def _text(value: Tree) -> str:
    return value if isinstance(value, str) else str(value).lower()


def set_replicas(resources: Resources, entry: Object) -> None:
    """One entry of `replicas`."""
    name, count = str(entry.get("name") or ""), int(entry.get("count") or 0)
    found = ever_called(resources, lambda it: it.name == name and is_one_of(it, _SCALED))
    for one in found:
        change_at(one.content, "spec/replicas", lambda _: count, 0)
    if not found:
        kinds = " ".join(f"{kind}.[noVer].[noGrp]" for kind in _SCALED_SHOWN)
        raise BuildFailure(
            f"resource with name {name} does not match a config with the following GVK [{kinds}]"
        )


def set_images(resources: Resources, entry: Object) -> None:
    """One entry of `images`."""
    try:
        form = compile_go_regex(f"^{entry.get('name', '')}{_PARTS}")
    except ValueError:
        return

    def changed(value: Tree) -> Tree:
        return _image(value, entry, form) if isinstance(value, str) else value

    for resource in resources:
        for path in _IMAGES:
            change_at(resource.content, path, changed)
        if resource.content.get("kind") != "CustomResourceDefinition":
            _everywhere(resource.content, entry, form)


def _everywhere(value: Tree, entry: Object, form: re.Pattern[str]) -> None:
    """Images of containers at any depth."""
    if isinstance(value, list):
        for one in value:
            _everywhere(one, entry, form)
    elif isinstance(value, dict):
        for name, inner in value.items():
            _everywhere(inner, entry, form)
            if name in {"containers", "initContainers"} and isinstance(inner, list):
                for one in inner:
                    if isinstance(one, dict) and isinstance(one.get("image"), str):
                        one["image"] = _image(one["image"], entry, form)


def _image(value: str, entry: Object, form: re.Pattern[str]) -> str:
    if not form.search(value):
        return value
    name, tag, digest = split_image(value)
    name = entry.get("newName") or name
    new_tag, new_digest = _text(entry.get("newTag") or ""), str(entry.get("digest") or "")
    if new_tag or new_digest:
        tag, digest = new_tag, new_digest
    elif entry.get("tagSuffix"):
        tag, digest = f"{tag}{entry['tagSuffix']}", ""
    return f"{name}{f':{tag}' if tag else ''}{f'@{digest}' if digest else ''}"


def split_image(value: str) -> tuple[str, str, str]:
    """Name, tag and digest of an image."""
    begin = max(value.find("/"), 0)
    at = value.find("@", begin)
    digest = value[at + 1 :] if at >= 0 else ""
    rest = value[:at] if at >= 0 else value
    colon = rest.find(":", begin)
    return (rest, "", digest) if colon < 0 else (rest[:colon], rest[colon + 1 :], digest)
