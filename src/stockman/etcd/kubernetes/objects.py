"""Objects of Kubernetes out of etcd, as far as they can be read without knowing their kind."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from stockman.etcd.errors import BrokenDatabase
from stockman.etcd.protobuf import fields, text, to_signed

_ENVELOPE = b"k8s\0"
_ENCRYPTED = re.compile(rb"k8s:enc:([a-z0-9]+):(v\d+):([^:]*):")
_EARLIEST, _LATEST = -62_135_596_800, 253_402_300_799


@dataclass(frozen=True, slots=True)
class EncryptedObject:
    """An object that only the holder of a key can read."""

    provider: str
    """`secretbox`, `aescbc`, `aesgcm` or `kms`."""
    version: str
    key_name: str


@dataclass(frozen=True, slots=True)
class StoredObject:
    """What all objects have in common."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""
    created: datetime | None = None
    deleted: datetime | None = None
    """When it was asked to go; None: it stays."""
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    finalizers: tuple[str, ...] = ()


def read_stored_object(value: bytes) -> StoredObject | EncryptedObject | None:
    """What a value is; None: something that is no object. Raises `BrokenDatabase` when damaged."""
    if value.startswith(_ENVELOPE):
        return _from_envelope(value[len(_ENVELOPE) :])
    if value.startswith(b"{"):
        return _from_json(value)
    match = _ENCRYPTED.match(value)
    if match is None:
        return None
    provider, version, name = (group.decode("utf-8", "replace") for group in match.groups())
    return EncryptedObject(provider, version, name)


def _from_envelope(message: bytes) -> StoredObject:
    kind, raw = b"", b""
    for number, content in fields(message):
        if number == 1:
            kind = _message(content)
        elif number == 2:
            raw = _message(content)
    types = {number: text(content) for number, content in fields(kind)}
    values: dict[str, object] = {"api_version": types.get(1, ""), "kind": types.get(2, "")}
    for number, content in fields(raw):
        if number == 1:
            return StoredObject(**values, **_metadata(_message(content)))  # type: ignore[arg-type]
    return StoredObject(**values)  # type: ignore[arg-type]


_TEXTS = {1: "name", 3: "namespace", 5: "uid"}
_TIMES = {8: "created", 9: "deleted"}
_MAPS = {11: "labels", 12: "annotations"}
_FINALIZERS = 14


def _metadata(message: bytes) -> dict[str, object]:
    values: dict[str, object] = {}
    maps: dict[str, dict[str, str]] = {}
    finalizers: list[str] = []
    for number, content in fields(message):
        if number in _TEXTS:
            values[_TEXTS[number]] = text(content)
        elif number in _TIMES:
            values[_TIMES[number]] = _read_time(_message(content))
        elif number in _MAPS:
            pair = {index: text(item) for index, item in fields(_message(content))}
            maps.setdefault(_MAPS[number], {})[pair.get(1, "")] = pair.get(2, "")
        elif number == _FINALIZERS:
            finalizers.append(text(content))
    return values | maps | {"finalizers": tuple(finalizers)}


def _message(content: int | bytes) -> bytes:
    if isinstance(content, int):
        raise BrokenDatabase("an object has a number where a message belongs")
    return content


def _read_time(message: bytes) -> datetime | None:
    for number, content in fields(message):
        if number == 1 and isinstance(content, int):
            seconds = to_signed(content)
            return datetime.fromtimestamp(seconds, UTC) if _EARLIEST <= seconds <= _LATEST else None
    return None


def _from_json(value: bytes) -> StoredObject:
    try:
        content = json.loads(value)
    except (ValueError, RecursionError):
        raise BrokenDatabase("an object is no JSON") from None
    metadata = content.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    return StoredObject(
        api_version=_text(content, "apiVersion"),
        kind=_text(content, "kind"),
        name=_text(metadata, "name"),
        namespace=_text(metadata, "namespace"),
        uid=_text(metadata, "uid"),
        created=_parse_time(_text(metadata, "creationTimestamp")),
        deleted=_parse_time(_text(metadata, "deletionTimestamp")),
        labels=_texts(metadata.get("labels")),
        annotations=_texts(metadata.get("annotations")),
        finalizers=tuple(
            finalizer for finalizer in _string_list(metadata.get("finalizers")) if finalizer
        ),
    )


def _text(content: dict[str, object], name: str) -> str:
    value = content.get(name)
    return value if isinstance(value, str) else ""


def _texts(content: object) -> dict[str, str]:
    if not isinstance(content, dict):
        return {}
    return {str(name): value for name, value in content.items() if isinstance(value, str)}


def _string_list(content: object) -> list[str]:
    return [item for item in content if isinstance(item, str)] if isinstance(content, list) else []


def _parse_time(written: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written) if written else None
    except ValueError:
        return None
