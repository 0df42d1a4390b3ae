"""What a Flux Kustomization adds to the kustomization of its path."""

from __future__ import annotations

import posixpath

from stockman_lab.kube.flux.kustomize.documents import first_document, objects
from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.flux.kustomize.files import Files, joined
from stockman_lab.kube.flux.kustomize.go_yaml import go_text
from stockman_lab.kube.flux.kustomize.kustomization import NAMES
from stockman_lab.kube.objects import Object

_VERSION = "kustomize.config.k8s.io/v1beta1"
_TARGET = ("group", "version", "kind", "name", "namespace", "labelSelector", "annotationSelector")


def overlaid(files: Files, folder: str, spec: Object) -> Files:
    """A tree whose folder has a kustomization with all that the spec of an object says."""
    path, made = _found(files, folder) or _made(files, folder)
    for field, name in (
        ("targetNamespace", "namespace"),
        ("namePrefix", "namePrefix"),
        ("nameSuffix", "nameSuffix"),
    ):
        if field in spec:
            made[name] = spec[field]
    patches = [
        {"patch": patch.get("patch", ""), **_target(patch)} for patch in spec.get("patches") or ()
    ]
    _extend(made, "patches", patches)
    _extend(made, "components", _components(files, folder, spec))
    made["images"] = _images(made.get("images") or [], spec.get("images") or [])
    kept = {name: value for name, value in made.items() if value not in (None, [], {}, "")}
    return files.with_files({path: go_text(kept).encode()})


def _found(files: Files, folder: str) -> tuple[str, Object] | None:
    for name in NAMES:
        path = posixpath.join(folder, name)
        if files.is_file(path):
            tree = first_document(files.contents[path]) or {}
            if not isinstance(tree, dict):
                raise BuildFailure(
                    "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array"
                    " into Go value of type types.Kustomization"
                )
            if not tree.get("resources"):
                tree["buildMetadata"] = ["originAnnotations"]
            return path, {"apiVersion": _VERSION, "kind": "Kustomization", **tree}
    return None


def _made(files: Files, folder: str) -> tuple[str, Object]:
    """A kustomization of everything that lies below a folder."""
    made: Object = {"apiVersion": _VERSION, "kind": "Kustomization"}
    paths = list(_scanned(files, folder, "."))
    if paths:
        made["resources"] = paths
    else:
        made["namespace"] = "_placeholder"
    return posixpath.join(folder, NAMES[0]), made


def _scanned(files: Files, folder: str, way: str) -> list[str]:
    found: list[str] = []
    for name in files.below(folder):
        path, shown = posixpath.join(folder, name), f"{way}/{name}"
        if files.is_folder(path):
            is_kustomized = any(files.is_file(posixpath.join(path, one)) for one in NAMES)
            found += [shown] if is_kustomized else _scanned(files, path, shown)
        elif name.endswith((".yaml", ".yml")):
            try:
                objects(files.contents[path])
            except BuildFailure as why:
                raise BuildFailure(
                    f"failed to decode Kubernetes YAML from {files.shown(path)}: {why}"
                ) from None
            found.append(shown)
    return found


def _extend(made: Object, name: str, more: list[Object] | list[str]) -> None:
    if more:
        made[name] = [*(made.get(name) or ()), *more]


def _target(patch: Object) -> Object:
    target = patch.get("target")
    if target is None:
        return {}
    return {"target": {name: target[name] for name in _TARGET if target.get(name)}}


def _components(files: Files, folder: str, spec: Object) -> list[str]:
    paths = []
    for path in spec.get("components") or ():
        place = joined(folder, path)
        if path.startswith("/") or "://" in path:
            raise BuildFailure(f"component path '{path}' must be local and relative")
        is_there = place is not None and (files.is_folder(place) or files.is_file(place))
        if is_there or not spec.get("ignoreMissingComponents"):
            paths.append(path)
    return paths


def _images(own: list[Object], more: list[Object]) -> list[Object]:
    found = {str(one.get("name", "")): dict(one) for one in own}
    for one in more:
        image = found.setdefault(one["name"], {"name": one["name"]})
        if one.get("newName"):
            image["newName"] = one["newName"]
        if one.get("newTag") or one.get("digest"):
            for part in ("newTag", "digest"):
                image.pop(part, None)
                if one.get(part):
                    image[part] = one[part]
    return list(found.values())
