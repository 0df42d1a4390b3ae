"""Keys in the words of a user: what they hold, what they mean, what it means to leave one out."""

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

_UNSET = re.compile(r"(?:^|(?<=\. ))(?:None|Empty): (.+?)\.(?: |$)")


def type_in_words(kind: KeyType) -> str:
    """A kind in the words of a user."""
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
    """What a key means: its own words, or those of the block that it holds."""
    own = _UNSET.sub("", docs).strip()
    block = find_record_type(kind)
    about = record_text(block.cls) if block is not None else ""
    if not own or not about:
        return own or about or docs.replace("None: ", "Not set: ")
    if not isinstance(kind, RecordType):
        return f"{own} Each: {_lower_first(about)}"
    return about if _long_words(own) <= _long_words(about) else f"{own} {about}"


def _lower_first(sentence: str) -> str:
    """A sentence as it goes on after a colon; names and acronyms keep their capitals."""
    ordinary = sentence.startswith(("A ", "An ", "How ", "One ", "What ", "Where "))
    return sentence[0].lower() + sentence[1:] if ordinary else sentence


def _long_words(sentence: str) -> set[str]:
    return {noun for noun in re.findall(r"[a-z]+", sentence.lower()) if len(noun) > 3}


def record_text(cls: type) -> str:
    """What a block of keys is, for users: they know keys that are not set, and no None."""
    return class_doc(cls).replace("None", "Not set")


def unset_meaning(docs: str) -> str:
    """What the documentation says of a key that is not written; empty where it says nothing."""
    match = _UNSET.search(docs)
    return match[1] if match is not None else ""
