"""Secrets that lie encrypted in a repository, opened with the keys of the cluster.

Flux does not look at check sums: kustomize has changed the objects by then.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stockman.model.errors import StockmanError
from stockman_lab.kube.flux.kustomize.documents import first_document
from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.flux.kustomize.files import Files, joined
from stockman_lab.kube.flux.kustomize.identity import Identity
from stockman_lab.kube.flux.kustomize.kustomization import kustomization_file
from stockman_lab.kube.objects import Object, Tree, metadata_of

if TYPE_CHECKING:
    from stockman.crypto.age.identities import AgeIdentity
    from stockman.crypto.sops.values import ValueCipher

_SUFFIX = ".agekey"
_DISABLED = "kustomize.toolkit.fluxcd.io/decrypt"
_MARKS = {"json": b'"mac": "ENC[', "yaml": b"mac: ENC[", "env": b"sops_mac=ENC[", "ini": b"[sops]"}
_NO_KEY = "cannot get sops data key: Failed to get the data key required to decrypt the SOPS file."


def identities(
    data: Mapping[str, bytes], secret: str, kind: str = "decryption Secret"
) -> list[AgeIdentity]:
    """The keys of a secret of the cluster; raises `BuildFailure`."""
    from stockman.crypto.age.identities import parse_identities

    age_identities: list[AgeIdentity] = []
    for name, value in sorted(data.items()):
        if name.endswith(_SUFFIX):
            try:
                age_identities += parse_identities(value.decode("utf-8", "replace"))
            except StockmanError as why:
                what = f"failed to import '{name}' data from sops {kind} '{secret}'"
                raise BuildFailure(
                    f"{what}: failed to parse and add to age identities: {why}"
                ) from None
    return age_identities


def is_encrypted(content: Object) -> bool:
    """Whether an object is encrypted."""
    return isinstance(content.get("sops"), dict) and "mac" in content["sops"]


def is_encrypted_secret(content: Object) -> bool:
    """Whether it is a secret that nobody has opened."""
    return (
        content.get("kind") == "Secret" and content.get("apiVersion") == "v1" and "sops" in content
    )


def is_left_alone(content: Object) -> bool:
    """Whether an object says that it is not to be opened."""
    annotations = metadata_of(content).get("annotations") or {}
    return str(annotations.get(_DISABLED, "")).lower() == "disabled"


def decrypted(content: Object, keys: Sequence[AgeIdentity]) -> Object:
    """An object in the clear, and the files in a secret; raises `BuildFailure`."""
    if is_left_alone(content):
        return content
    name = Identity.of(content)
    if is_encrypted(content):
        try:
            return _opened(content, keys)
        except BuildFailure as why:
            what = f"failed to decrypt and format '{name.namespace}/{name.name}' {name.kind} data"
            raise BuildFailure(f"{what}: {why}") from None
    if content.get("kind") != "Secret":
        return content
    data = {
        key: _entry(content, key, value, keys) for key, value in (content.get("data") or {}).items()
    }
    return {**content, "data": data} if data else content


def _entry(content: Object, key: str, value: Tree, keys: Sequence[AgeIdentity]) -> Tree:
    try:
        raw = base64.b64decode(str(value), validate=True)
    except (binascii.Error, ValueError):
        return value
    if not any(mark in raw for mark in _MARKS.values()):
        return value
    name = Identity.of(content)
    try:
        return base64.b64encode(_file(raw, key, keys)).decode()
    except BuildFailure as why:
        what = f"failed to decrypt and format '{name.namespace}/{name.name}' Secret field '{key}'"
        raise BuildFailure(f"{what}: {why}") from None


def _opened(content: Object, keys: Sequence[AgeIdentity]) -> Object:
    cipher = _cipher(content, keys)
    values = _values(content, (), cipher)
    return {name: value for name, value in values.items() if name != "sops"}


def _cipher(content: Object, keys: Sequence[AgeIdentity]) -> ValueCipher:
    from stockman.crypto.sops.files import file_metadata, unwrap_data_key
    from stockman.crypto.sops.values import ValueCipher

    try:
        metadata = file_metadata(json.dumps({"sops": content["sops"]}).encode(), "secret.json")
        return ValueCipher(unwrap_data_key(metadata, keys, "secret.json"))
    except StockmanError as why:
        raise BuildFailure(f"{_NO_KEY} ({_reason(why)})") from None


def _reason(why: StockmanError) -> str:
    return str(why).splitlines()[0]


def _values(value: Tree, path: tuple[str, ...], cipher: ValueCipher) -> Tree:
    from stockman.crypto.sops.scalars import CommentText, Timestamp
    from stockman.crypto.sops.update import format_value
    from stockman.crypto.sops.values import bound_path, looks_encrypted

    if isinstance(value, dict):
        return {
            name: one if not path and name == "sops" else _values(one, (*path, name), cipher)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [_values(one, path, cipher) for one in value]
    if not isinstance(value, str) or not looks_encrypted(value):
        return value
    try:
        decrypt = cipher.decrypt(value, bound_path(path))
    except ValueError as why:
        raise BuildFailure(f"error decrypting sops tree: {why}") from None
    return format_value(decrypt) if isinstance(decrypt, Timestamp | CommentText) else decrypt


def _file(raw: bytes, name: str, keys: Sequence[AgeIdentity]) -> bytes:
    from stockman.crypto.sops.files import decrypt

    try:
        return decrypt(raw, name, keys)
    except StockmanError as why:
        raise BuildFailure(_reason(why)) from None


def with_open_sources(files: Files, folder: str, keys: Sequence[AgeIdentity]) -> Files:
    """A tree in which the files of secret generators and patches are in the clear."""
    found: dict[str, bytes] = {}
    _open_sources(files, folder, keys, found, set())
    return files.with_files(found) if found else files


def _open_sources(
    files: Files,
    folder: str,
    keys: Sequence[AgeIdentity],
    found: dict[str, bytes],
    visited: set[str],
) -> None:
    if folder in visited:
        return
    visited.add(folder)
    path = kustomization_file(files, folder)
    read = first_document(files.contents[path]) if path else None
    fields = read if isinstance(read, dict) else {}
    for name in _sources(fields):
        place = joined(folder, name)
        content = files.contents.get(place or "", b"")
        if place is not None and any(mark in content for mark in _MARKS.values()):
            try:
                found[place] = _file(content, place, keys)
            except BuildFailure as why:
                raise BuildFailure(f"error decrypting sources: {why}") from None
    for name in (*(fields.get("resources") or ()), *(fields.get("components") or ())):
        place = joined(folder, str(name))
        if place is not None and files.is_folder(place):
            _open_sources(files, place, keys, found, visited)


def _sources(fields: Object) -> list[str]:
    sources = [str(patch["path"]) for patch in fields.get("patches") or () if patch.get("path")]
    for one in fields.get("secretGenerator") or ():
        sources += [
            str(source).partition("=")[2] or str(source) for source in one.get("files") or ()
        ]
        sources += [str(source) for source in one.get("envs") or ()]
    return sources
