"""Contents in both forms that go over the wire: a message, and YAML."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.talos.go_yaml import dump
from stockman_lab.talos.cosi.encoding import proto_bytes
from stockman_lab.talos.cosi.registry import Kind
from stockman_lab.talos.cosi.shaping import shaped
from stockman_lab.talos.cosi.tables import shape_of


def written(kind: Kind, minor: str, spec: object) -> dict[str, object]:
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
