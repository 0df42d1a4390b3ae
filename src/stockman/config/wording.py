"""Keys in the words of a user: what they hold, what they mean, what it means to leave one out."""

from __future__ import annotations

import re

from stockman.config.describe import class_doc
from stockman.config.kinds import BASES, Block, Free, Kind, ListOf, MapOf, Value, block_in

_ABSENT = re.compile(r"(?:^|(?<=\. ))(?:None|Empty): (.+?)\.(?: |$)")


def words(kind: Kind) -> str:
    """A kind in the words of a user."""
    match kind:
        case Value(choices=choices) if choices:
            return f"one of {', '.join(choices)}"
        case Value(base=base):
            return BASES[base].one
        case Free():
            return "anything"
        case Block():
            return "mapping"
        case ListOf(item=item):
            return f"list of {_many(item)}"
        case MapOf(value=value):
            return f"{_many(value)} by name"


def _many(kind: Kind) -> str:
    match kind:
        case Value(choices=choices) if choices:
            return f"texts, each one of {', '.join(choices)}"
        case Value(base=base):
            return BASES[base].many
        case Free():
            return "anything"
        case ListOf(item=item):
            return f"lists of {_many(item)}"
        case Block() | MapOf():
            return "mappings"


def description(docs: str, kind: Kind) -> str:
    """What a key means: its own words, or those of the block that it holds."""
    own = _ABSENT.sub("", docs).strip()
    block = block_in(kind)
    about = block_text(block.cls) if block is not None else ""
    if not own or not about:
        return own or about or docs.replace("None: ", "Not set: ")
    if not isinstance(kind, Block):
        return f"{own} Each: {_continued(about)}"
    return about if _nouns(own) <= _nouns(about) else f"{own} {about}"


def _continued(sentence: str) -> str:
    """A sentence as it goes on after a colon; names and acronyms keep their capitals."""
    ordinary = sentence.startswith(("A ", "An ", "How ", "One ", "What ", "Where "))
    return sentence[0].lower() + sentence[1:] if ordinary else sentence


def _nouns(sentence: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+", sentence.lower()) if len(word) > 3}


def block_text(cls: type) -> str:
    """What a block of keys is, for users: they know keys that are not set, and no None."""
    return class_doc(cls).replace("None", "Not set")


def absence(docs: str) -> str:
    """What the documentation says of a key that is not written; empty where it says nothing."""
    found = _ABSENT.search(docs)
    return found[1] if found is not None else ""
