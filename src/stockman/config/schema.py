"""JSON Schemas of the files, so that editors complete, explain and check them.

A schema takes everything that `validate` takes, and more: it knows no rules between keys. The
reader looks at the text of a value and not at its YAML type, so a text may look like a number
(`1.12`) and a number may stand in quotes. Any value may be encrypted by SOPS, and a key that may
be absent may be null.
"""

from __future__ import annotations

from typing import Any

from stockman.config.dialect import CLASSIC_KEYS
from stockman.config.keys import flat_keys, flat_member
from stockman.config.kinds import Block, Free, Kind, ListOf, MapOf, Member, Value, members
from stockman.config.language.cluster import RepositorySection
from stockman.config.language.estate import CLUSTER_SECTIONS, MACHINE_SECTIONS, Estate
from stockman.config.language.node import ClassSection, NodeSection
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, FILES, NODES_YAML
from stockman.config.schema_values import value_schema, whole
from stockman.config.source.tree import untyped
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.wording import absence, block_text, description
from stockman.model.record import plain
from stockman.model.secret import Secret

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TITLES = {
    CLUSTER_YAML: ("Cluster", "The cluster: flat keys and sections."),
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
    word.lower(): word
    for word in (
        "API", "ASN", "BGP", "BIOS", "CA", "CCM", "CIDR", "CPU", "CSI", "DNS", "EFI", "GB", "HA",
        "ID", "MAC", "MTU", "NIC", "NICs", "NTP", "NUMA", "OIDC", "PCI", "S3", "SANs", "SSD",
        "SSH", "TLS", "TPM", "URL", "USB", "UUID", "VGA", "VLAN", "VLANs", "VM", "VMID", "VMs",
    )
}  # fmt: skip


def schema_for(file: str) -> Schema:
    """The JSON Schema (2020-12) of `cluster.yaml`, `nodes.yaml` or `cluster.toml`."""
    if file not in FILES:
        raise LookupError(file)
    return _Builder(file).document()


class _Builder:
    """One schema in the making; every record class becomes one definition."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._nulls = file != CLUSTER_TOML
        self._definitions: dict[str, Schema] = {}

    def document(self) -> Schema:
        title, text = _TITLES[self._file]
        sections = {member.name: member for member in members(Estate)}
        properties: dict[str, Schema] = {}
        if self._file == CLUSTER_YAML:
            properties.update({key.path: self._flat(key.path) for key in flat_keys()})
        for name in _SECTIONS[self._file]:
            properties[name] = self._property(sections[name])
        properties["sops"] = {
            "title": "SOPS",
            "description": "What SOPS writes into a file that it encrypts.",
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
        schema = self._property(flat_member(name))
        if name in CLASSIC_KEYS:
            schema["description"] += f" The same as `{CLASSIC_KEYS[name]}`."
        return schema

    def _property(self, member: Member, *, partial: bool = False) -> Schema:
        """A key; `partial` says that what it holds is completed elsewhere."""
        optional = not member.required
        schema: Schema = {"title": title_of(member.name), "description": _description(member)}
        schema.update(self._kind(member.kind, optional=optional, partial=partial))
        default = plain(member.default)
        if default not in (None, "", [], {}) and not isinstance(default, dict):
            schema["default"] = default
        return schema

    def _kind(self, kind: Kind, *, optional: bool = False, partial: bool = False) -> Schema:
        match kind:
            case Value():
                return value_schema(kind, null=optional and self._nulls)
            case Free(examples=examples):
                return {"examples": [_free(one) for one in examples]} if examples else {}
            case Block(cls=cls):
                reference = {"$ref": f"#/$defs/{self._defined(cls, partial=partial)}"}
                return reference if optional else {**reference, "type": "object"}
            case ListOf(item=item, filled=filled):
                schema: Schema = {
                    "type": self._types("array", optional=optional),
                    "items": self._kind(item, optional=_takes_empty(item)),
                }
                return {**schema, "minItems": 1} if filled else schema
            case MapOf(value=value, names=names, filled=filled):
                schema = {"type": self._types("object", optional=optional)}
                if names is not None:
                    schema["propertyNames"] = {"pattern": whole(names.pattern)}
                schema["additionalProperties"] = self._kind(
                    value, optional=_takes_empty(value), partial=partial
                )
                return {**schema, "minProperties": 1} if filled else schema

    def _defined(self, cls: type, *, partial: bool) -> str:
        """The name of a record class's definition; a partial one needs no key."""
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
            "title": title_of(_spaced(cls.__name__.removesuffix("Section"))),
            "description": block_text(cls),
            "type": self._types("object", optional=True),
            "properties": {member.name: self._property(member, partial=below) for member in own},
        }
        if required:
            schema["required"] = required
        return {**schema, "additionalProperties": False}

    def _members(self, cls: type) -> tuple[Member, ...]:
        """The keys of a record class; the classic dialect names repositories shortly."""
        if cls is not RepositorySection or self._file != CLUSTER_YAML:
            return members(cls)
        short = flat_member("repository_name")
        return tuple(
            one._replace(kind=short.kind) if one.name == "url" else one for one in members(cls)
        )

    def _types(self, name: str, *, optional: bool) -> str | list[str]:
        return [name, "null"] if optional and self._nulls else name


def _needs_keys(cls: type) -> bool:
    """Whether a block, or one inside of it that merges with others, cannot do without some key."""
    return any(member.required or _merges_keys(member.kind) for member in members(cls))


def _merges_keys(kind: Kind) -> bool:
    match kind:
        case Block(cls=cls):
            return _needs_keys(cls)
        case MapOf(value=value):
            return _merges_keys(value)
    return False  # a list replaces another as a whole


def _takes_empty(kind: Kind) -> bool:
    """Whether nothing at all is a value: in lists and under names it is the empty text."""
    return isinstance(kind, Value) and kind.base is str and not (kind.shape or kind.choices)


def _free(example: str) -> object:
    return untyped(read_yaml("example", example))


def _description(member: Member) -> str:
    """Everything an editor can show of a key in one paragraph."""
    text = description(member.docs, member.kind)
    absent = absence(member.docs)
    if absent and absent not in text:
        text += f" Not set: {absent}."
    value = member.kind.item if isinstance(member.kind, ListOf) else member.kind
    if not isinstance(value, Value):
        return text
    if value.limits is not None and value.limits.unit and value.limits.unit not in text:
        text += f" In {value.limits.unit}."
    if value.shape is not None:
        text += f" Form: {value.shape.says}."
    return f"{text} {_SECRET}" if value.base is Secret else text


def title_of(name: str) -> str:
    """A key as a heading: `dns_servers` is `DNS servers`."""
    words = [_CAPITALS.get(word, word) for word in name.split("_")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def _spaced(name: str) -> str:
    """A class name as a key is written: `DataDisk` is `data_disk`."""
    return "".join(f"_{one.lower()}" if one.isupper() else one for one in name).strip("_")
