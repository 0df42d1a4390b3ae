"""Secrets that lie encrypted in a repository, opened with the keys of the cluster.

Flux does not look at check sums: kustomize has changed the objects by then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stockman.model.errors import StockmanError
from stockman_lab.kube.flux.kustomize.documents import BuildFailure
from stockman_lab.kube.objects import Object, Tree, metadata_of

if TYPE_CHECKING:
    from stockman.crypto.age.identities import AgeIdentity
    from stockman.crypto.sops.values import ValueCipher

_SUFFIX = ".agekey"
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


def is_encrypted_secret(content: Object) -> bool:
    """Whether it is a secret that nobody has opened."""
    return (
        content.get("kind") == "Secret" and content.get("apiVersion") == "v1" and "sops" in content
    )


def decrypted(content: Object, keys: Sequence[AgeIdentity]) -> Object:
    """An object in the clear; raises `BuildFailure`."""
    if not isinstance(content.get("sops"), dict) or "mac" not in content["sops"]:
        return content
    metadata = metadata_of(content)
    try:
        values = _values(content, (), _cipher(content, keys))
    except BuildFailure as why:
        name = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
        what = f"failed to decrypt and format '{name}' {content.get('kind')} data"
        raise BuildFailure(f"{what}: {why}") from None
    return {name: value for name, value in values.items() if name != "sops"}


def _cipher(content: Object, keys: Sequence[AgeIdentity]) -> ValueCipher:
    from stockman.crypto.sops.files import file_metadata, unwrap_data_key
    from stockman.crypto.sops.values import ValueCipher

    try:
        metadata = file_metadata(json.dumps({"sops": content["sops"]}).encode(), "secret.json")
        return ValueCipher(unwrap_data_key(metadata, keys, "secret.json"))
    except StockmanError as why:
        raise BuildFailure(f"{_NO_KEY} ({str(why).splitlines()[0]})") from None


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
        return [_values(item, path, cipher) for item in value]
    if not isinstance(value, str) or not looks_encrypted(value):
        return value
    try:
        decrypt = cipher.decrypt(value, bound_path(path))
    except ValueError as why:
        raise BuildFailure(f"error decrypting sops tree: {why}") from None
    return format_value(decrypt) if isinstance(decrypt, Timestamp | CommentText) else decrypt
