"""Descriptions of keys: their types, their meaning, and the meaning of an unset key."""

from __future__ import annotations

import re

from stockman.config.reference.key_types import (
    BASE_TYPES,
    AnyType,
    KeyType,
    ListOf,
    MapOf,
    RecordType,
    ValueType,
    class_doc,
    find_record_type,
)
from stockman.model.pattern import pattern

_UNSET = pattern(r"(?:^|(?<=\. ))(?:None|Empty): (.+?)\.(?: |$)")

_ORDINARY = (
    *("A ", "An ", "The ", "How ", "Where ", "Which "),
    *("Desired ", "Mirrors ", "Objects ", "Overrides ", "Ports ", "Selects ", "Settings "),
)
"""Beginnings of sentences that are lower case after a colon."""


def type_in_words(kind: KeyType) -> str:
    """Describe a type in words."""
    match kind:
        case ValueType(choices=choices) if choices:
            return f"one of {', '.join(choices)}"
        case ValueType(base=base):
            return BASE_TYPES[base].singular
        case AnyType():
            return "anything"
        case RecordType():
            return "mapping"
        case ListOf(item=item):
            return f"list of {_type_plural(item)}"
        case MapOf(value=value):
            return f"{_type_plural(value)} by name"


def _type_plural(kind: KeyType) -> str:
    match kind:
        case ValueType(choices=choices) if choices:
            return f"texts, each one of {', '.join(choices)}"
        case ValueType(base=base):
            return BASE_TYPES[base].plural
        case AnyType():
            return "anything"
        case ListOf(item=item):
            return f"lists of {_type_plural(item)}"
        case RecordType() | MapOf():
            return "mappings"


def description(docs: str, kind: KeyType) -> str:
    """Return the documentation of a key: its own, or that of its record class."""
    own = _UNSET.sub("", docs).strip()
    block = find_record_type(kind)
    about = record_text(block.cls) if block is not None else ""
    if not own or not about:
        return own or about or docs.replace("None: ", "Not set: ")
    if not isinstance(kind, RecordType):
        return f"{own} Each item: {_lower_first(about)}"
    return about if _long_words(own) <= _long_words(about) else f"{own} {about}"


def _lower_first(sentence: str) -> str:
    """Return a sentence for use after a colon; names and acronyms keep their capitals."""
    ordinary = sentence.startswith(_ORDINARY)
    return sentence[0].lower() + sentence[1:] if ordinary else sentence


def _long_words(sentence: str) -> set[str]:
    return {noun for noun in re.findall(r"[a-z]+", sentence.lower()) if len(noun) > 3}


def record_text(cls: type) -> str:
    """Return the documentation of a record class for users, who see unset keys instead of None."""
    return class_doc(cls).replace("None", "Not set")


def unset_meaning(docs: str) -> str:
    """Return what the documentation says about an unset key; empty: nothing."""
    match = _UNSET.search(docs)
    return match[1] if match is not None else ""
