"""The objects of a Kustomization: built, decrypted and filled in."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.flux.decrypting import decrypted, identities, is_encrypted_secret
from stockman_lab.kube.flux.inventory import Entry
from stockman_lab.kube.flux.kustomize.building import built, kustomization_file, set_namespace
from stockman_lab.kube.flux.kustomize.documents import (
    BuildFailure,
    first_document,
    not_modelled,
    objects,
    yaml_text,
)
from stockman_lab.kube.flux.kustomize.files import Files
from stockman_lab.kube.flux.kustomize.patches import patched
from stockman_lab.kube.objects import Object, Tree, entries_of, metadata_of, part_of

if TYPE_CHECKING:
    from stockman.crypto.age.identities import AgeIdentity

_NAME = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_EXPRESSION = re.compile(
    r"""\$\$
    | \$\{(?P<name>\w+)(?:
        :?[=-](?P<default>[^}]*)
        | (?P<replace>//?)(?P<old>[^/}]+)/(?P<new>[^}]*)
      )?\}
    | \$\{""",
    re.VERBOSE,
)


def check_names(variables: Mapping[str, str]) -> None:
    """Refuse variables that no text can name."""
    for name in variables:
        if not _NAME.fullmatch(name):
            raise BuildFailure(f"'{name}' var name is invalid, must match '{_NAME.pattern}'")


def substituted(text: str, variables: Mapping[str, str]) -> str:
    """A text with the values of variables in it; those without one are empty."""

    def value(result: re.Match[str]) -> str:
        if result[0] == "$$":
            return "$"
        if result["name"] is None:
            raise BuildFailure("variable substitution failed: bad substitution")
        value = variables.get(result["name"]) or result["default"] or ""
        if result["replace"]:
            return value.replace(
                result["old"], result["new"], 1 if result["replace"] == "/" else -1
            )
        return value

    return _EXPRESSION.sub(value, text)


GROUP = "kustomize.toolkit.fluxcd.io"
_SWITCH = f"{GROUP}/substitute"


def with_variables(content: Object, variables: Mapping[str, str]) -> Object:
    """An object with the values of variables in it, unless it says that it wants none.

    The text of the object is read anew, so that a word may become a number.
    """
    metadata = metadata_of(content)
    texts = [(metadata.get(part) or {}).get(_SWITCH) for part in ("labels", "annotations")]
    if not variables or "disabled" in texts:
        return content
    try:
        check_names(variables)
        if not _has_dollar(content):
            return content
        tree = first_document(substituted(yaml_text(content), variables).encode())
    except BuildFailure as why:
        what = f"{content.get('kind')}/{metadata.get('name')}"
        raise BuildFailure(f"post build failed for '{what}': envsubst error: {why}") from None
    return tree if isinstance(tree, dict) else content


def _has_dollar(value: Tree) -> bool:
    """Whether a variable stands anywhere; most objects have none, and writing them takes long."""
    if isinstance(value, str):
        return "$" in value
    if isinstance(value, dict):
        return any(_has_dollar(name) or _has_dollar(one) for name, one in value.items())
    return isinstance(value, list) and any(map(_has_dollar, value))


def with_metadata(content: Object, common: Object) -> Object:
    """An object with labels and annotations in addition."""
    metadata = dict(metadata_of(content))
    for part in ("labels", "annotations"):
        if common.get(part):
            metadata[part] = {**(metadata.get(part) or {}), **common[part]}
    return {**content, "metadata": metadata}


def owned(content: Object, name: str, namespace: str) -> Object:
    """An object with the labels that tell to which Kustomization it belongs."""
    labels = {f"{GROUP}/name": name, f"{GROUP}/namespace": namespace}
    return with_metadata(content, {"labels": labels})


_LEFT_OUT = (
    *("kubeConfig", "serviceAccountName", "healthCheckExprs"),
    *("components", "namePrefix", "nameSuffix"),
)


class PathMissing(Exception):
    """The source has no such folder."""


def folder_of(files: Files, spec: Object) -> str:
    """The folder that is built; raises `PathMissing`."""
    folder = str(spec.get("path") or "").removeprefix("./").strip("/").removeprefix(".")
    if not files.is_folder(folder):
        text = f"kustomization path not found: stat {files.shown(folder)}: no such file"
        raise PathMissing(f"{text} or directory")
    return folder


def resources(files: Files, folder: str, spec: Object) -> list[Object]:
    """What kustomize makes of a folder with all that a spec says; raises `BuildFailure`."""
    for name in _LEFT_OUT:
        if spec.get(name):
            raise not_modelled(f"spec.{name}")
    if kustomization_file(files, folder) is not None:
        result = built(files, folder)
    else:
        result = list(_below(files, folder))
    result = patched(result, entries_of(spec, "patches"))
    images = {str(image["name"]): image for image in entries_of(spec, "images")}
    for content in result if images else ():
        _set_images(content, images)
    for content in result if spec.get("targetNamespace") else ():
        set_namespace(content, str(spec["targetNamespace"]))
    return result


def _set_images(value: Tree, images: Mapping[str, Object]) -> None:
    """Give containers at any depth the images that a spec asks for."""
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            _set_images(inner, images)
    if isinstance(value, dict) and isinstance(value.get("image"), str):
        name, _, _ = value["image"].partition("@")[0].rpartition(":")
        image = images.get(name)
        if image is not None:
            digest = f"@{image['digest']}" if image.get("digest") else ""
            tag = f":{image['newTag']}" if image.get("newTag") else ""
            value["image"] = f"{image.get('newName') or name}{tag}{digest}"


def _below(files: Files, folder: str) -> Iterator[Object]:
    """Everything that lies below a folder without a kustomization."""
    for name in files.below(folder):
        path = f"{folder}/{name}" if folder else name
        if files.is_folder(path):
            has_own = kustomization_file(files, path) is not None
            yield from built(files, path) if has_own else _below(files, path)
        elif name.endswith((".yaml", ".yml")):
            yield from objects(files.contents[path])


def manifests(
    content: Object, files: Files, folder: str, cluster: Objects, keys_for_all: str = ""
) -> list[Object]:
    """All objects; raises `BuildFailure`.

    `keys_for_all` is the secret, with its namespace, whose keys open what names no secret itself.
    """
    spec, metadata = part_of(content, "spec"), metadata_of(content)
    name, namespace = str(metadata["name"]), str(metadata["namespace"])
    try:
        result = resources(files, folder, spec)
    except BuildFailure as why:
        raise BuildFailure(f"kustomize build failed: {why}") from None
    decryption = part_of(spec, "decryption")
    if decryption:
        reference = part_of(decryption, "secretRef").get("name")
        secret = f"{namespace}/{reference}" if reference else keys_for_all
        keys = _keys(secret, cluster) if secret else []
        result = [decrypted(item, keys) for item in result]
    variables: Mapping[str, str] = {}
    if spec.get("postBuild"):
        variables = _variables(spec["postBuild"], namespace, cluster)
    common = part_of(spec, "commonMetadata")
    filled = (with_variables(item, variables) for item in result)
    return [with_metadata(owned(item, name, namespace), common) for item in filled]


def still_encrypted(contents: list[Object]) -> str:
    """What has to be said of a secret that nobody opened; empty: there is none."""
    for item in contents:
        if is_encrypted_secret(item):
            return (
                f"{Entry.of(item).shown} is SOPS encrypted, configuring decryption is required for"
                " this secret to be reconciled"
            )
    return ""


def _keys(key: str, cluster: Objects) -> list[AgeIdentity]:
    secret = cluster.get("secrets", key)
    if secret is None:
        raise BuildFailure(f'secrets "{key.partition("/")[2]}" not found')
    return identities(_data(secret), key)


def _data(secret: Object) -> dict[str, bytes]:
    data = part_of(secret, "data")
    return {name: base64.b64decode(str(value)) for name, value in data.items()}


def _variables(post_build: Object, namespace: str, cluster: Objects) -> Mapping[str, str]:
    result: dict[str, str] = {}
    for reference in post_build.get("substituteFrom") or ():
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        plural = {"ConfigMap": "configmaps", "Secret": "secrets"}.get(kind, "")
        source = cluster.get(plural, f"{namespace}/{name}") if plural else None
        if source is None and not reference.get("optional"):
            why = f"substitute from '{kind}/{name}' error: {plural} \"{name}\" not found"
            raise BuildFailure(f"post build failed: {why}")
        if source is not None and kind == "Secret":
            result |= {key: value.decode() for key, value in _data(source).items()}
        elif source is not None:
            result |= {key: str(value) for key, value in part_of(source, "data").items()}
    result |= {key: str(value) for key, value in part_of(post_build, "substitute").items()}
    return {key: value.replace("\n", "") for key, value in result.items()}
