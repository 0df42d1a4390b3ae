"""The objects of a Kustomization: built, decrypted and filled in."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.flux.decrypting import (
    decrypted,
    identities,
    is_encrypted_secret,
    is_left_alone,
    with_open_sources,
)
from stockman_lab.kube.flux.inventory import Entry
from stockman_lab.kube.flux.kustomize.building import built
from stockman_lab.kube.flux.kustomize.failure import BuildFailure, not_modelled
from stockman_lab.kube.flux.kustomize.files import Files
from stockman_lab.kube.flux.kustomize.identity import Identity
from stockman_lab.kube.flux.overlay import overlaid
from stockman_lab.kube.flux.post_build import owned, with_metadata, with_variables
from stockman_lab.kube.objects import Object, metadata_of, part_of

if TYPE_CHECKING:
    from stockman.crypto.age.identities import AgeIdentity

_LEFT_OUT = ("kubeConfig", "serviceAccountName", "healthCheckExprs")


class PathMissing(Exception):
    """The source has no such folder."""


def check_modelled(spec: Object) -> None:
    """Refuse what the lab does not do; raises `BuildFailure`."""
    for name in _LEFT_OUT:
        if spec.get(name):
            raise not_modelled(f"spec.{name}")
    if any(depend.get("readyExpr") for depend in spec.get("dependsOn") or ()):
        raise not_modelled("readyExpr of a dependency")
    decryption = part_of(spec, "decryption")
    if decryption and decryption.get("provider") != "sops":
        raise not_modelled(f"decryption by {decryption.get('provider')}")


def folder_of(files: Files, spec: Object) -> str:
    """The folder that is built; raises `PathMissing`."""
    parts: list[str] = []
    for part in str(spec.get("path") or "").split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in {"", "."}:
            parts.append(part)
    folder = "/".join(parts)
    if not files.is_folder(folder):
        shown = files.shown(folder)
        if files.is_file(folder):
            return folder
        text = f"kustomization path not found: stat {shown}: no such file or directory"
        raise PathMissing(text)
    return folder


def manifests(
    found: Object, files: Files, folder: str, objects: Objects, keys_for_all: str = ""
) -> list[Object]:
    """All objects; raises `BuildFailure`.

    `keys_for_all` is the secret, with its namespace, whose keys open what names no secret itself.
    """
    spec, metadata = part_of(found, "spec"), metadata_of(found)
    name, namespace = str(metadata["name"]), str(metadata["namespace"])
    check_modelled(spec)
    tree = overlaid(files, folder, spec)
    decryption = spec.get("decryption")
    keys: list[AgeIdentity] = []
    if decryption:
        reference = part_of(decryption, "secretRef")
        keys = (
            _keys(f"{namespace}/{reference['name']}", objects)
            if reference.get("name")
            else _keys(keys_for_all, objects, "SOPS age decryption Secret")
        )
        tree = with_open_sources(tree, folder, keys)
    try:
        made = built(tree, folder)
    except BuildFailure as why:
        raise BuildFailure(f"kustomize build failed: {why}") from None
    variables: Mapping[str, str] = {}
    if made and spec.get("postBuild"):
        try:
            variables = _variables(spec["postBuild"], namespace, objects)
        except BuildFailure as why:
            raise BuildFailure(f"post build failed for '{_shown(made[0])}': {why}") from None
    common = part_of(spec, "commonMetadata")
    opened = (_decrypted(one, keys) if decryption else one for one in made)
    filled = (with_variables(one, variables) for one in opened)
    return [with_metadata(owned(one, name, namespace), common) for one in filled]


def still_encrypted(objects: list[Object]) -> str:
    """What has to be said of a secret that nobody opened; empty: there is none."""
    for one in objects:
        if is_encrypted_secret(one) and not is_left_alone(one):
            return (
                f"{Entry.of(one).shown} is SOPS encrypted, configuring decryption is required for"
                " this secret to be reconciled"
            )
    return ""


def _shown(content: Object) -> str:
    name = Identity.of(content)
    return f"{name.kind_text}/{name.name}"


def _decrypted(content: Object, keys: list[AgeIdentity]) -> Object:
    try:
        return decrypted(content, keys)
    except BuildFailure as why:
        raise BuildFailure(f"decryption failed for '{_shown(content)}': {why}") from None


def _keys(place: str, objects: Objects, kind: str = "decryption Secret") -> list[AgeIdentity]:
    if not place:
        return []
    secret = objects.get("secrets", place)
    if secret is None:
        raise BuildFailure(f'secrets "{place.partition("/")[2]}" not found')
    return identities(_data(secret), place, kind)


def _data(secret: Object) -> dict[str, bytes]:
    found = part_of(secret, "data")
    return {name: base64.b64decode(str(value)) for name, value in found.items()}


def _variables(post_build: Object, namespace: str, objects: Objects) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for reference in post_build.get("substituteFrom") or ():
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        plural = {"ConfigMap": "configmaps", "Secret": "secrets"}.get(kind, "")
        source = objects.get(plural, f"{namespace}/{name}") if plural else None
        if source is None and not reference.get("optional"):
            raise BuildFailure(
                f"substitute from '{kind}/{name}' error: {plural} \"{name}\" not found"
            )
        if source is not None and kind == "Secret":
            found |= {key: value.decode() for key, value in _data(source).items()}
        elif source is not None:
            found |= {key: str(value) for key, value in part_of(source, "data").items()}
    found |= {key: str(value) for key, value in part_of(post_build, "substitute").items()}
    return {key: value.replace("\n", "") for key, value in found.items()}
