"""Schemas of custom resource definitions: they have to be structural."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from stockman_lab.kube.admission.draft import forbidden_field, required, unsupported, wrong
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.schema.structural import structural
from stockman_lab.kube.schema.validating import violations

Schema = Mapping[str, Any]
_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_LIST_TYPES = ("atomic", "set", "map")
_LIST_TYPE, _KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
_OPEN, _EITHER = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"
_EMPTY = {
    "root": "must not be empty at the root",
    "field": "must not be empty for specified object fields",
    "item": "must not be empty for specified array items",
}
_QUADRATIC = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
_METADATA = (
    "must not specify anything other than name and generateName, but metadata is implicitly"
    " specified"
)
_KEY_NEEDED = (
    "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required"
    " property"
)


def schema_causes(schema: Schema, field: str) -> Iterator[Cause]:
    """What is wrong with the schema of a kind."""
    causes = list(_form_causes(schema, field))
    yield from causes or _structure_causes(schema, field, "root")


def _below(schema: Schema, field: str) -> Iterator[tuple[Schema, str, str]]:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name in sorted(properties):
            if isinstance(properties[name], dict):
                yield properties[name], f"{field}.properties[{name}]", "field"
    for name, level in (("items", "item"), ("additionalProperties", "field")):
        if isinstance(schema.get(name), dict):
            yield schema[name], f"{field}.{name}", level


def _form_causes(schema: Schema, field: str) -> Iterator[Cause]:
    """Of each part by itself."""
    if schema.get("uniqueItems"):
        yield forbidden_field(f"{field}.uniqueItems", _QUADRATIC)
    if schema.get("$ref"):
        yield forbidden_field(f"{field}.$ref", "$ref is not supported")
    kind = schema.get("type")
    if kind and kind not in _TYPES:
        yield unsupported(f"{field}.type", kind, _TYPES)
    if schema.get(_OPEN) is False:
        yield wrong(f"{field}.{_OPEN}", False, "must be true or undefined")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (why := _pattern_error(pattern)):
        text = f"must be a valid regular expression, but isn't: error parsing regexp: {why}"
        yield wrong(f"{field}.pattern", pattern, text)
    yield from _list_causes(schema, field)
    for below, path, _ in _below(schema, field):
        yield from _form_causes(below, path)


def _list_causes(schema: Schema, field: str) -> Iterator[Cause]:
    kind = schema.get(_LIST_TYPE)
    if kind is None:
        return
    if schema.get("type") != "array":
        why = f"must be array if {_LIST_TYPE} is specified"
        yield wrong(f"{field}.type", schema.get("type", ""), why)
    if kind not in _LIST_TYPES:
        yield unsupported(f"{field}.{_LIST_TYPE}", kind, _LIST_TYPES)
    keys = schema.get(_KEYS) or []
    if kind == "map" and not keys:
        yield required(f"{field}.{_KEYS}", f"must not be empty if {_LIST_TYPE} is map")
    item = schema.get("items") if isinstance(schema.get("items"), dict) else {}
    properties = (item or {}).get("properties") or {}
    for key in keys if kind == "map" else ():
        told = properties.get(key)
        is_needed = key in ((item or {}).get("required") or ())
        if told is not None and not is_needed and "default" not in told:
            yield required(f"{field}.items.properties[{key}].default", _KEY_NEEDED)


def _structure_causes(schema: Schema, field: str, level: str) -> Iterator[Cause]:
    """Of the whole: every part says what it is."""
    kind = schema.get("type")
    if kind == "array" and not isinstance(schema.get("items"), dict):
        yield required(f"{field}.items", "must be specified")
    for below, path, inner in _below(schema, field):
        if level == "root" and path == f"{field}.properties[metadata]":
            if set(below.get("properties") or ()) - {"name", "generateName"}:
                yield forbidden_field(path, _METADATA)
            continue
        yield from _structure_causes(below, path, inner)
    if not kind and not schema.get(_OPEN) and not schema.get(_EITHER):
        yield required(f"{field}.type", _EMPTY[level])
    elif level == "root" and kind != "object":
        yield wrong(f"{field}.type", kind, "must be object at the root")
    if schema.get("default") is not None:
        for violation in violations(structural(schema), schema["default"]):
            inner = f".{violation.field}" if violation.field else ""
            yield Cause(violation.reason, violation.message, f"{field}.default{inner}")


_UNKNOWN_TO_GO = re.compile(r"(?<!\\)(\(\?(?:=|!|<=|<!|>|#))|(?<!\\)\\([1-9])")
_MISSING = (
    ("missing ), unterminated subpattern", "missing closing ): `{}`"),
    ("unbalanced parenthesis", "unexpected ): `{}`"),
    ("unterminated character set", "missing closing ]: `{}`"),
    ("nothing to repeat", "missing argument to repetition operator: `{}`"),
    ("multiple repeat", "invalid nested repetition operator: `{}`"),
    ("bad escape", "invalid escape sequence: `{}`"),
)


def _pattern_error(pattern: str) -> str:
    """Why a regular expression is none; empty: it is one."""
    odd = _UNKNOWN_TO_GO.search(pattern)
    if odd is not None:
        if odd[1]:
            return f"invalid or unsupported Perl syntax: `{odd[1]}`"
        return f"invalid escape sequence: `{odd[0]}`"
    try:
        re.compile(pattern.replace(r"\z", r"\Z"))
    except (re.error, RecursionError, OverflowError) as why:
        words = str(why)
        place = getattr(why, "pos", None) or 0
        for begin, text in _MISSING:
            if words.startswith(begin):
                startswith = begin.startswith(("missing", "unbalanced"))
                return text.format(pattern if startswith else pattern[place:][:2])
        return "" if words.startswith(("unknown extension", "bad character range")) else words
    return ""
