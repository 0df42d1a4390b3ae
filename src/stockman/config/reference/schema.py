"""JSON Schemas of the configuration files, for completion and validation in editors.

A schema accepts everything that `validate` accepts, and more: it does not include rules between
keys. The reader uses the text of a value and not its YAML type, so a text may look like a number
(`1.12`) and a number may be quoted. Every value may be encrypted by SOPS, and an optional key may
be null.
"""

from __future__ import annotations

import re
from typing import Any

from stockman.config.classic import CLASSIC_KEYS
from stockman.config.language import (
    CLUSTER_SECTIONS,
    MACHINE_SECTIONS,
    ClassSection,
    Configuration,
    NodeSection,
    RepositorySection,
)
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, CONFIG_FILES, NODES_YAML
from stockman.config.reference.key_types import (
    BASE_TYPES,
    AnyType,
    KeyType,
    ListOf,
    MapOf,
    RecordKey,
    RecordType,
    ValueType,
    record_keys,
)
from stockman.config.reference.keys import (
    description,
    flat_keys,
    flat_record_key,
    record_text,
    unset_meaning,
)
from stockman.config.source.tree import to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.pattern import pattern
from stockman.model.record import to_plain_value
from stockman.model.secret import Secret

_CIPHERTEXT = r"ENC\[[A-Z0-9_]+,[\s\S]*\]"
_NUMERALS = ("1", "12", "1.5", "1e5", "1" * 32, "1" * 64)
_RANGE_OF_LETTERS = pattern(r"([a-z])-([a-z])")


def value_schema(value: ValueType, *, null: bool) -> dict[str, Any]:
    """Return the schema of a single value; `null` is whether null is allowed."""
    if value.choices:
        # Apart from the ciphertext, so that editors complete and list the choices.
        choices = [*value.choices, None] if null else list(value.choices)
        ciphertext = {"type": "string", "pattern": anchor_pattern(_CIPHERTEXT)}
        return {"anyOf": [{"enum": choices}, ciphertext]}
    pattern = _value_pattern(value)
    types = _json_types(value, pattern)
    schema: dict[str, Any] = {"type": [*types, "null"] if null else _collapse_single(types)}
    if value.limits is not None:
        schema |= {"minimum": value.limits.low, "maximum": value.limits.high}
    if pattern:
        # One pattern instead of `anyOf`, after which editors cannot say what is wrong.
        schema["pattern"] = anchor_pattern(f"{pattern}|{_CIPHERTEXT}")
        schema["patternErrorMessage"] = f"This is not {_format_name(value)}."
    if value.examples:
        schema["examples"] = list(value.examples)
    return schema


def anchor_pattern(pattern: str) -> str:
    """Anchor a pattern, because JSON Schema searches."""
    return f"^(?:{pattern})$"


def _value_pattern(value: ValueType) -> str:
    if value.shape is None:
        return BASE_TYPES[value.base].pattern
    if not value.shape.lower_case:
        return value.shape.pattern
    return _RANGE_OF_LETTERS.sub(lambda match: f"{match[0].upper()}{match[0]}", value.shape.pattern)


def _json_types(value: ValueType, pattern: str) -> list[str]:
    """Return the JSON types that a value can have after an editor has parsed the file."""
    if value.base is int:
        return ["integer", "string"]
    if value.base is bool:
        return ["boolean", "string"]
    types = ["string"]
    if any(re.fullmatch(pattern, text) for text in _NUMERALS) or not pattern:
        types.append("number")
    if re.fullmatch(pattern, "true") or not pattern:
        types.append("boolean")
    return types


def _collapse_single(types: list[str]) -> str | list[str]:
    return types[0] if len(types) == 1 else types


def _format_name(value: ValueType) -> str:
    if value.shape is not None:
        return value.shape.description
    name = BASE_TYPES[value.base].singular
    if value.base is bool:
        return name
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TITLES = {
    CLUSTER_YAML: ("Cluster", "Flat keys and sections of the cluster."),
    NODES_YAML: ("Machines", "Nodes, their classes, guests and hosts."),
    CLUSTER_TOML: ("Cluster and machines", "The cluster and its machines."),
}
_SECTIONS = {
    CLUSTER_YAML: CLUSTER_SECTIONS,
    NODES_YAML: MACHINE_SECTIONS,
    CLUSTER_TOML: CLUSTER_SECTIONS + MACHINE_SECTIONS,
}
_SECRET = "Secret: `${NAME}`, `file:path`, `sops:path#key`, or encrypted by SOPS."
_CAPITALS = {
    acronym.lower(): acronym
    for acronym in (
        "API", "ASN", "BGP", "BIOS", "CA", "CCM", "CIDR", "CPU", "CSI", "DNS", "EFI", "GB", "HA",
        "ID", "MAC", "MTU", "NIC", "NICs", "NTP", "NUMA", "OIDC", "PCI", "S3", "SANs", "SSD",
        "SSH", "TLS", "TPM", "URL", "USB", "UUID", "VGA", "VLAN", "VLANs", "VM", "VMID", "VMs",
    )
}  # fmt: skip


def schema_for(file: str) -> Schema:
    """Return the JSON Schema (2020-12) of `cluster.yaml`, `nodes.yaml` or `cluster.toml`."""
    if file not in CONFIG_FILES:
        raise LookupError(file)
    return _SchemaBuilder(file).document()


class _SchemaBuilder:
    """Builds one schema; every record class becomes one definition."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._nulls = file != CLUSTER_TOML
        self._definitions: dict[str, Schema] = {}

    def document(self) -> Schema:
        title, text = _TITLES[self._file]
        sections = {member.name: member for member in record_keys(Configuration)}
        properties: dict[str, Schema] = {}
        if self._file == CLUSTER_YAML:
            properties.update({key.path: self._flat(key.path) for key in flat_keys()})
        for name in _SECTIONS[self._file]:
            properties[name] = self._property(sections[name])
        properties["sops"] = {
            "title": "SOPS",
            "description": "Metadata that SOPS adds to an encrypted file.",
            "type": "object",
        }
        return {
            "$schema": DIALECT,
            "$id": f"urn:stockman:schema:{self._file}",
            "title": title,
            "description": text,
            "type": self._types("object", optional=True),
            "properties": properties,
            "additionalProperties": False,
            "$defs": dict(sorted(self._definitions.items())),
        }

    def _flat(self, name: str) -> Schema:
        schema = self._property(flat_record_key(name))
        if name in CLASSIC_KEYS:
            schema["description"] += f" The same as `{CLASSIC_KEYS[name]}`."
        return schema

    def _property(self, member: RecordKey, *, partial: bool = False) -> Schema:
        """Return the schema of a key; `partial` is whether its record is completed elsewhere."""
        optional = not member.required
        schema: Schema = {"title": key_title(member.name), "description": _description(member)}
        schema.update(self._kind(member.type, optional=optional, partial=partial))
        default = to_plain_value(member.default)
        if default not in (None, "", [], {}) and not isinstance(default, dict):
            schema["default"] = default
        return schema

    def _kind(self, kind: KeyType, *, optional: bool = False, partial: bool = False) -> Schema:
        match kind:
            case ValueType():
                return value_schema(kind, null=optional and self._nulls)
            case AnyType(examples=examples):
                return (
                    {"examples": [_parse_example(example) for example in examples]}
                    if examples
                    else {}
                )
            case RecordType(cls=cls):
                reference = {"$ref": f"#/$defs/{self._definition_name(cls, partial=partial)}"}
                return reference if optional else {**reference, "type": "object"}
            case ListOf(item=item, non_empty=filled):
                schema: Schema = {
                    "type": self._types("array", optional=optional),
                    "items": self._kind(item, optional=_takes_empty(item)),
                }
                return {**schema, "minItems": 1} if filled else schema
            case MapOf(value=value, names=names, non_empty=filled):
                schema = {"type": self._types("object", optional=optional)}
                if names is not None:
                    schema["propertyNames"] = {"pattern": anchor_pattern(names.pattern)}
                schema["additionalProperties"] = self._kind(
                    value, optional=_takes_empty(value), partial=partial
                )
                return {**schema, "minProperties": 1} if filled else schema

    def _definition_name(self, cls: type, *, partial: bool) -> str:
        """Return the name of a record class's definition; a partial one has no required keys."""
        partial = (partial or cls is ClassSection) and _needs_keys(cls)
        name = f"Partial{cls.__name__}" if partial else cls.__name__
        if name not in self._definitions:
            definition = self._definitions[name] = {}
            definition.update(self._definition(cls, partial=partial))
        return name

    def _definition(self, cls: type, *, partial: bool) -> Schema:
        # What a node does not say its class may say, except who the node is.
        below = partial or cls is NodeSection
        own = [
            member._replace(required=member.required and not partial)
            for member in self._members(cls)
        ]
        required = [member.name for member in own if member.required]
        schema = {
            "title": key_title(_snake_case(cls.__name__.removesuffix("Section"))),
            "description": record_text(cls),
            "type": self._types("object", optional=True),
            "properties": {member.name: self._property(member, partial=below) for member in own},
        }
        if required:
            schema["required"] = required
        return {**schema, "additionalProperties": False}

    def _members(self, cls: type) -> tuple[RecordKey, ...]:
        """Return the keys of a record class; the classic dialect has short repository names."""
        if cls is not RepositorySection or self._file != CLUSTER_YAML:
            return record_keys(cls)
        short = flat_record_key("repository_name")
        return tuple(
            member._replace(type=short.type) if member.name == "url" else member
            for member in record_keys(cls)
        )

    def _types(self, name: str, *, optional: bool) -> str | list[str]:
        return [name, "null"] if optional and self._nulls else name


def _needs_keys(cls: type) -> bool:
    """Return whether a record, or a nested one that is merged, has required keys."""
    return any(member.required or _merges_keys(member.type) for member in record_keys(cls))


def _merges_keys(kind: KeyType) -> bool:
    match kind:
        case RecordType(cls=cls):
            return _needs_keys(cls)
        case MapOf(value=value):
            return _merges_keys(value)
    return False  # a list replaces another as a whole


def _takes_empty(kind: KeyType) -> bool:
    """Return whether a missing value is an empty text, as in lists and under names."""
    return isinstance(kind, ValueType) and kind.base is str and not (kind.shape or kind.choices)


def _parse_example(example: str) -> object:
    return to_plain_data(read_yaml("example", example))


def _description(member: RecordKey) -> str:
    """Return the description of a key for editors, in one paragraph."""
    text = description(member.docs, member.type)
    absent = unset_meaning(member.docs)
    if absent and absent not in text:
        text += f" Not set: {absent}."
    value = member.type.item if isinstance(member.type, ListOf) else member.type
    if not isinstance(value, ValueType):
        return text
    if value.limits is not None and value.limits.unit and value.limits.unit not in text:
        text += f" In {value.limits.unit}."
    if value.shape is not None:
        text += f" Form: {value.shape.description}."
    return f"{text} {_SECRET}" if value.base is Secret else text


def key_title(name: str) -> str:
    """Return a key as title: `dns_servers` is `DNS servers`."""
    title_words = [_CAPITALS.get(segment, segment) for segment in name.split("_")]
    return " ".join([title_words[0][:1].upper() + title_words[0][1:], *title_words[1:]])


def _snake_case(name: str) -> str:
    """Return a class name in snake case: `DataDisk` is `data_disk`."""
    return "".join(
        f"_{character.lower()}" if character.isupper() else character for character in name
    ).strip("_")
