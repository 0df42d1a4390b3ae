"""Formats that occur in the schema and are not checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman_lab.pve.schema.formats import formats_of
from stockman_lab.pve.schema.schema import PROFILES, Schema
from stockman_lab.pve.schema.shape import Part, Shape


def unchecked_formats() -> frozenset[str]:
    """Named formats of parameters, in any profile, whose values are taken as they come."""
    return frozenset(
        form
        for profile in PROFILES
        for operation in Schema.of(profile).operations.values()
        for form in _forms(operation.parameters)
        if not formats_of(profile).is_known(form)
    )


def _forms(parts: Mapping[str, Part]) -> Iterator[str]:
    for part in parts.values():
        yield from _forms_of(part.shape)


def _forms_of(shape: Shape) -> Iterator[str]:
    if shape.form:
        yield shape.form
    if shape.items is not None:
        yield from _forms_of(shape.items)
    for parts in (shape.keys, shape.parts):
        yield from _forms(parts or {})
    for _, variant in shape.variants:
        yield from _forms_of(variant)
