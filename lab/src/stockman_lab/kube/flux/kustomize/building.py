"""What a kustomization makes of the files of a tree."""

from __future__ import annotations

from stockman_lab.kube.flux.kustomize.documents import (
    BuildFailure,
    first_document,
    not_modelled,
    objects,
)
from stockman_lab.kube.flux.kustomize.files import Files, joined
from stockman_lab.kube.flux.kustomize.patches import patched
from stockman_lab.kube.objects import Object, entries_of, metadata_of
from stockman_lab.kube.schema.types import Types

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_MODELLED = frozenset(
    {"apiVersion", "kind", "metadata", "resources", "components", "namespace", "patches"}
)


def built(files: Files, folder: str) -> list[Object]:
    """The objects of a kustomization; raises `BuildFailure`."""
    return _built(files, folder, [], ())


def kustomization_file(files: Files, folder: str) -> str | None:
    """The path of the file of a folder; None: there is none."""
    paths = (f"{folder}/{name}" if folder else name for name in NAMES)
    return next((path for path in paths if files.is_file(path)), None)


def read_kustomization(files: Files, folder: str) -> Object:
    """The kustomization of a folder; raises `BuildFailure`."""
    path = kustomization_file(files, folder)
    if path is None:
        names = "'kustomization.yaml', 'kustomization.yml' or 'Kustomization'"
        raise BuildFailure(f"unable to find one of {names} in directory '{files.shown(folder)}'")
    fields = first_document(files.contents[path])
    if not isinstance(fields, dict):
        raise BuildFailure(f"invalid Kustomization: {files.shown(path)} is not an object")
    unknown = sorted(fields.keys() - _MODELLED)
    if unknown:
        raise not_modelled(f"field {unknown[0]} of a kustomization")
    return fields


def _built(
    files: Files, folder: str, resources: list[Object], above: tuple[str, ...]
) -> list[Object]:
    """The objects of a kustomization, with those that were there before."""
    if folder in above:
        raise BuildFailure(f"cycle detected: '{files.shown(folder)}' contains itself")
    fields = read_kustomization(files, folder)
    for path in fields.get("resources") or ():
        key = joined(folder, str(path))
        if key is not None and files.is_folder(key):
            _extend(resources, _built(files, key, [], (*above, folder)))
        else:
            _extend(resources, objects(_file(files, folder, str(path))))
    for path in fields.get("components") or ():
        key = joined(folder, str(path))
        if key is None or not files.is_folder(key):
            raise BuildFailure(f"accumulating components: '{path}' is not a directory")
        resources = _built(files, key, resources, (*above, folder))
    patches = entries_of(fields, "patches")
    resources = patched(resources, patches, lambda path: _file(files, folder, path))
    if fields.get("namespace"):
        for content in resources:
            set_namespace(content, str(fields["namespace"]))
    return resources


def _file(files: Files, folder: str, path: str) -> bytes:
    if "://" in path:
        raise not_modelled(f"the remote resource {path}")
    key = joined(folder, path)
    if key is None or not files.is_file(key):
        shown = files.shown(key or path)
        raise BuildFailure(f"accumulating resources: open {shown}: no such file or directory")
    return files.contents[key]


def _extend(resources: list[Object], more: list[Object]) -> None:
    known = {_identity(content) for content in resources}
    for content in more:
        if _identity(content) in known:
            name = metadata_of(content)["name"]
            text = f"may not add resource with an already registered id: {content['kind']}/{name}"
            raise BuildFailure(text)
        resources.append(content)


def _identity(content: Object) -> tuple[str, ...]:
    metadata = metadata_of(content)
    group = str(content.get("apiVersion")).rpartition("/")[0]
    return group, str(content["kind"]), str(metadata.get("namespace")), str(metadata["name"])


_YOUNG = {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}
"""Kinds without a namespace that kustomize up to 5.8.1, with which Flux is made, does not know."""


def set_namespace(content: Object, namespace: str) -> None:
    """Put an object into a namespace, unless its kind is known to kustomize to lie in none."""
    group, _, version = str(content.get("apiVersion")).rpartition("/")
    resource = Types.of_server().resource_of_kind(group, version, str(content["kind"]))
    if resource is None or resource.namespaced or resource.kind in _YOUNG:
        content["metadata"]["namespace"] = namespace
    if content["kind"] in {"RoleBinding", "ClusterRoleBinding"}:
        for subject in entries_of(content, "subjects"):
            if subject.get("name") == "default":
                subject["namespace"] = namespace
    if (content["kind"], group) == ("Namespace", ""):
        content["metadata"]["name"] = namespace
