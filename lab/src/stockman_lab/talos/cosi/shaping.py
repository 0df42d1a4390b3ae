"""Contents as Go writes them: keys in order, what is empty filled in or left away."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from stockman.talos.go_yaml import dump, sort_free_form, sort_keys
from stockman_lab.talos.cosi.encoding import proto_bytes
from stockman_lab.talos.cosi.parts import Part, parts
from stockman_lab.talos.cosi.registry import ResourceKind
from stockman_lab.talos.cosi.tables import shape_of, word_of

_DURATION = "google.protobuf.Duration"
_TEXTS = frozenset({"common.NetIP", "common.NetIPPrefix", "common.NetIPPort"})
_PEM = {
    "common.PEMEncodedCertificateAndKey": ("crt", "key"),
    "common.PEMEncodedCertificate": ("crt",),
    "common.PEMEncodedKey": ("key",),
}


def shaped(shape: str, minor: str, values: Mapping[str, object]) -> dict[str, object]:
    """All that is written of a structure, with what nobody told."""
    fields: dict[str, object] = {}
    for part in parts(shape, minor):
        row = part.row
        if row.is_hidden:
            continue
        if row.is_inline:
            fields |= _inline(part, minor, values)
            continue
        value = _value(part, minor, values.get(row.key))
        if not (row.omits_empty and _is_empty(part, minor, value)):
            fields[row.key] = value
    return fields


def _inline(part: Part, minor: str, values: Mapping[str, object]) -> dict[str, object]:
    if part.is_free:
        ordered = sort_free_form(dict(values))
        return ordered if isinstance(ordered, dict) else {}
    return shaped(part.shape, minor, values)


def _value(part: Part, minor: str, value: object) -> object:
    if part.is_map:
        entries = value if isinstance(value, Mapping) else {}
        return {key: _single(part, minor, entries[key]) for key in sort_keys(entries)}
    if part.is_list:
        items = value if isinstance(value, list | tuple) else []
        return [_single(part, minor, item) for item in items]
    return _single(part, minor, value)


def _single(part: Part, minor: str, value: object) -> object:
    if part.is_free:
        return sort_free_form(value if value is not None else {})
    if value is None:
        return None if part.row.is_pointer else _nothing(part, minor)
    if part.message in _PEM and isinstance(value, Mapping):
        return {key: value.get(key, "") for key in _PEM[part.message]}
    if part.shape and isinstance(value, Mapping):
        return shaped(part.shape, minor, value)
    return value


def _nothing(part: Part, minor: str) -> object:
    """What a field holds that nobody set."""
    if part.enum:
        return word_of(part.enum, 0)
    if part.message == _DURATION:
        return "0s"
    if part.message in _TEXTS or part.row.hint:
        return ""
    if part.shape:
        return _empty_shape(part.shape, minor)
    if part.message:
        return None
    default: object = part.field.default_value
    return default.decode() if isinstance(default, bytes) else default


@cache
def _empty_shape(shape: str, minor: str) -> dict[str, object]:
    return shaped(shape, minor, {})


def _is_empty(part: Part, minor: str, value: object) -> bool:
    if value is None or value == "" or value == 0 or value == [] or value == {}:
        return True
    if part.is_map or part.is_list or part.row.is_pointer:
        return False
    return bool(value == _nothing(part, minor))


def written(kind: ResourceKind, minor: str, spec: object) -> dict[str, object]:
    """The fields of `cosi.resource.Spec`."""
    if kind.written is not None:
        message, text = kind.written(minor, spec)
        return {"proto_spec": message, "yaml_spec": text}
    if not isinstance(spec, Mapping):
        raise TypeError(f"contents of {kind.type} are no mapping")
    shape = shape_of(kind.type)
    return {
        "proto_spec": proto_bytes(shape, minor, spec),
        "yaml_spec": dump(shaped(shape, minor, spec)),
    }


def scalar_text(value: str) -> str:
    """A single text as Go writes it where nothing stands around it."""
    return dump({"a": value}).removeprefix("a: ")
