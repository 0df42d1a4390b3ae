"""All keys of the language with their documentation.

A path consists of keys only: list indexes are omitted (`nodes.vm.nics.bridge`), and a name chosen
by the user is written NAME (`hosts.NAME.pools.disks`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from stockman.config.classic import CLASSIC_KEYS, VISIBILITY_KEY
from stockman.config.language import MACHINE_SECTIONS, Configuration
from stockman.config.reference.key_types import (
    BASE_TYPES,
    AnyType,
    KeyType,
    ListOf,
    MapOf,
    RecordKey,
    RecordType,
    ValueType,
    class_doc,
    find_record_type,
    find_value_type,
    record_keys,
)
from stockman.model.formats import GIT_URL, TextFormat
from stockman.model.pattern import pattern
from stockman.model.record import record, to_plain_value
from stockman.model.secret import Secret

NAME_PLACEHOLDER = "NAME"
"""Stands for a name chosen by the user."""

_INDEX = pattern(r"\[\d*\]")

REPOSITORY_NAME = TextFormat(
    "owner/repo, or a Git URL",
    rf"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9._-]+|{GIT_URL.pattern}",
    "owner/repo",
)
"""Format of repository names in the classic dialect."""

_FLAT_OVERRIDES = {
    "cloudflare_enabled": RecordKey(
        "cloudflare_enabled",
        ValueType(bool),
        required=False,
        default=True,
        docs="Whether Cloudflare is the DNS provider. If not, cloudflare keys are optional.",
    ),
    "repository_name": RecordKey(
        "repository_name",
        ValueType(str, REPOSITORY_NAME, examples=(REPOSITORY_NAME.example,)),
        required=False,
        default=None,
        docs="Name of a GitHub repository, or Git URL of any repository.",
    ),
    VISIBILITY_KEY: RecordKey(
        VISIBILITY_KEY,
        ValueType(str, choices=("public", "private")),
        required=False,
        default="public",
        docs="Whether the GitHub repository is read over HTTPS (public) or SSH (private).",
    ),
}
"""Flat keys whose values are written differently from the key that they stand for."""


@record
class Key:
    """A key: its names in both dialects, its type and its documentation."""

    path: str
    """Name in `stockman explain`: a path, or a flat key of cluster.yaml."""
    type: str
    """Type in words."""
    docs: str
    """Documentation."""
    required: bool
    default: str
    """Default value. Empty: none."""
    absent: str
    """Meaning of an unset key. Empty: described by the default."""
    choices: tuple[str, ...]
    """Allowed texts. Empty: not a choice."""
    low: int | None
    high: int | None
    """Limits of a number. None: no limits."""
    unit: str
    form: str
    """Format of a text, or of each text in a list. Empty: any text."""
    pattern: str
    """Regular expression of the format."""
    examples: tuple[str, ...]
    secret: bool
    file: str
    """File of the classic dialect that contains it."""
    classic: tuple[str, ...]
    """Flat keys of cluster.yaml that set it too. Empty: only the path."""
    toml: str
    """Table and key in cluster.toml. Empty: there is no such key."""
    same_as: str
    """Path that a flat key stands for. Empty: it is a path, or has none."""

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def yaml(self) -> tuple[str, ...]:
        """All names in the classic dialect, flat keys first."""
        return (self.path, self.same_as) if self.same_as else (*self.classic, self.path)

    @property
    def parent(self) -> str:
        """Path of the parent key; empty for sections and flat keys."""
        return self.path.rpartition(".")[0].removesuffix(f".{NAME_PLACEHOLDER}")

    @property
    def depth(self) -> int:
        """Number of ancestors."""
        return self.path.replace(f".{NAME_PLACEHOLDER}", "").count(".")


@cache
def all_keys() -> tuple[Key, ...]:
    """Return all keys except flat ones, each followed by its children."""
    return tuple(_walk_keys(Configuration, "", ""))


@cache
def flat_keys() -> tuple[Key, ...]:
    """Return the flat keys of cluster.yaml, in the order of the dialect."""
    named = [_flat_key(name, path) for name, path in CLASSIC_KEYS.items()]
    after = next(index for index, key in enumerate(named, 1) if key.path == "repository_branch")
    member = _FLAT_OVERRIDES[VISIBILITY_KEY]
    named.insert(after, _build_key(VISIBILITY_KEY, member, toml="", file="cluster.yaml"))
    return tuple(named)


@cache
def keys_by_path() -> dict[str, Key]:
    """Return the keys of both dialects by their name in `stockman explain`."""
    return {key.path: key for key in (*flat_keys(), *all_keys())}


def child_keys(key: Key, *, recursive: bool = False) -> tuple[Key, ...]:
    """Return the children of a key, or with `recursive` all descendants."""
    path = key.same_as or key.path
    if recursive:
        return tuple(child for child in all_keys() if child.path.startswith(f"{path}."))
    return tuple(child for child in all_keys() if child.parent == path)


def keys_of_record(cls: type, path: str) -> tuple[Key, ...]:
    """Return the keys of a record class at a path, each followed by its children."""
    return tuple(_walk_keys(cls, f"{path}.", f"[{path}]"))


def find_key(name: str) -> Key | None:
    """Return the key of a path as users and messages write it; None: unknown.

    List indexes are ignored, and a name may replace NAME or be omitted: `hosts.NAME.pools`,
    `hosts.pve-a.pools[0]` and `hosts.pools` are the same.
    """
    steps = _INDEX.sub("", name).strip(".").split(".")
    flat = keys_by_path().get(steps[0])
    if flat is not None and len(steps) == 1:
        return flat
    path = _resolve_path(RecordType(Configuration), steps)
    return keys_by_path()[".".join(path)] if path else None


def record_key_at(path: str) -> RecordKey:
    """Return the record key of a path in the dialect table; `[0]` is an item of the list."""
    key = RecordKey("", RecordType(Configuration), required=False, default=None, docs="")
    for step in path.split("."):
        if isinstance(key.type, MapOf):
            key = key._replace(type=key.type.value)
            continue
        name = _INDEX.sub("", step)
        key = {candidate.name: candidate for candidate in _record_keys_in(key.type)}[name]
        if isinstance(key.type, ListOf) and name != step:
            key = key._replace(type=key.type.item, default=None)
    return key


def flat_record_key(name: str) -> RecordKey:
    """Return a flat key of cluster.yaml as a record key."""
    respelled = _FLAT_OVERRIDES.get(name)
    return respelled or record_key_at(CLASSIC_KEYS[name])._replace(name=name)


def _resolve_path(kind: KeyType, steps: list[str]) -> tuple[str, ...] | None:
    """Return the general path of steps written by a user; None: unknown."""
    if not steps:
        return ()
    if isinstance(kind, MapOf):
        return _resolve_path_below_name(kind, steps)
    for member in _record_keys_in(kind):
        if member.name == steps[0]:
            below = _resolve_path(member.type, steps[1:])
            return None if below is None else (member.name, *below)
    return None


def _resolve_path_below_name(kind: MapOf, steps: list[str]) -> tuple[str, ...] | None:
    """Return the path below a name, which may be omitted or contain dots."""
    for start in range(len(steps)):
        below = _resolve_path(kind.value, steps[start:])
        if below is not None:
            return (NAME_PLACEHOLDER, *below)
    dotted = kind.names is None or find_record_type(kind) is None
    return () if dotted or len(steps) == 1 else None


def _walk_keys(cls: type, prefix: str, table: str) -> Iterator[Key]:
    for member in record_keys(cls):
        path = f"{prefix}{member.name}"
        block = find_record_type(member.type)
        file = "nodes.yaml" if path.split(".", 1)[0] in MACHINE_SECTIONS else "cluster.yaml"
        own_table = _table_header(path, member.type)
        header = own_table if block is not None else f"{table} {member.name}".strip()
        yield _build_key(path, member, toml=header, file=file)
        if block is not None:
            inner = f"{path}.{NAME_PLACEHOLDER}." if isinstance(member.type, MapOf) else f"{path}."
            yield from _walk_keys(block.cls, inner, own_table)


def _table_header(path: str, kind: KeyType) -> str:
    if isinstance(kind, MapOf):
        return f"[{path}.{NAME_PLACEHOLDER}]"
    return f"[[{path}]]" if isinstance(kind, ListOf) else f"[{path}]"


def _flat_key(name: str, path: str) -> Key:
    table, _, last = path.rpartition(".")
    header = f"[[{_INDEX.sub('', table)}]]" if table.endswith("]") else f"[{table}]"
    return _build_key(
        name,
        flat_record_key(name),
        toml=f"{header} {_INDEX.sub('', last)}",
        file="cluster.yaml",
        same_as=path,
    )


def _build_key(path: str, member: RecordKey, *, toml: str, file: str, same_as: str = "") -> Key:
    value = find_value_type(member.type)
    shape = value.shape if isinstance(value, ValueType) else None
    limits = value.limits if isinstance(value, ValueType) else None
    return Key(
        path=path,
        type=type_in_words(member.type),
        docs=description(member.docs, member.type),
        required=member.required,
        default=_format_default(member.default),
        absent=unset_meaning(member.docs),
        choices=value.choices if isinstance(value, ValueType) else (),
        low=limits.low if limits is not None else None,
        high=limits.high if limits is not None else None,
        unit=limits.unit if limits is not None else "",
        form=shape.description if shape is not None else "",
        pattern=shape.pattern if shape is not None else "",
        examples=value.examples if value is not None else (),
        secret=isinstance(value, ValueType) and value.base is Secret,
        file=file,
        classic=() if same_as else _flat_names().get(path, ()),
        toml=toml,
        same_as=same_as,
    )


@cache
def _flat_names() -> dict[str, tuple[str, ...]]:
    """Return flat keys by the general path that they set."""
    names: dict[str, tuple[str, ...]] = {}
    for name, path in CLASSIC_KEYS.items():
        general = ".".join(
            _resolve_path(RecordType(Configuration), _INDEX.sub("", path).split(".")) or ()
        )
        names[general] = (*names.get(general, ()), name)
    return names


def _format_default(value: object) -> str:
    """Format a default as a user would write it; empty for none and for sections."""
    written = to_plain_value(value)
    if isinstance(written, bool):
        return "true" if written else "false"
    if isinstance(written, list | tuple):
        return ", ".join(str(item) for item in written)
    return "" if written is None or isinstance(written, dict) else str(written)


def _record_keys_in(kind: KeyType) -> Iterable[RecordKey]:
    block = find_record_type(kind)
    return record_keys(block.cls) if block is not None else ()


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
