"""Random files that are right in form: any keys of the language with values that fit them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any
from uuid import UUID

import yaml
from hypothesis import strategies as st

from stockman.config.classic import CLASSIC_KEYS, VISIBILITY_KEY, repository_address
from stockman.config.language import CLUSTER_SECTIONS, MACHINE_SECTIONS, Configuration
from stockman.config.reference.key_types import (
    AnyType,
    KeyType,
    ListOf,
    MapOf,
    RecordType,
    ValueType,
    record_keys,
)
from stockman.config.reference.keys import flat_record_key
from stockman.config.writers import toml_writer, yaml_writer
from stockman.config.writers.yaml_writer import Commented
from stockman.model.secret import Secret, is_encrypted
from stockman.model.version import Version

Draw = Callable[[st.SearchStrategy[Any]], Any]
Contents = dict[str, bytes]

_CLASS_NAMES = ("controller", "worker", "worker-gpu", "storage")
_MOST_OPTIONAL_KEYS = 4

_OCTET = st.integers(0, 255)
_ADDRESS = st.tuples(_OCTET, _OCTET, _OCTET).map(lambda parts: "127.{}.{}.{}".format(*parts))
_LOOKALIKE = st.sampled_from(
    [
        "yes",
        "on",
        "0123",
        "1.10",
        "1e3",
        "~",
        "null",
        "",
        " x ",
        "a: b",
        "# a",
        "1:30",
        "{}",
        "a\nb\n",
    ]
)
_TEXT = st.one_of(st.text(max_size=12), _LOOKALIKE).filter(lambda text: not is_encrypted(text))
_VERSION = st.builds(
    "{}{}.{}{}".format,
    st.sampled_from(["", "v"]),
    st.integers(0, 3),
    st.integers(0, 40),
    st.sampled_from(["", ".0", ".7", ".10-beta.1"]),
)
_FLAG = st.booleans()
_FREE_SCALAR = st.one_of(
    _FLAG, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), _TEXT
)
_FREE: st.SearchStrategy[object] = st.recursive(
    _FREE_SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_BASES: dict[type, st.SearchStrategy[object]] = {
    str: _TEXT,
    bool: _FLAG,
    Secret: st.one_of(st.sampled_from(["${TOKEN}", "file:token.txt", "sops:a.yaml#b"]), _TEXT),
    IPv4Address: _ADDRESS,
    IPv4Network: st.sampled_from(["127.66.0.0/24", "127.0.0.0/8", "127.66.3.0/30"]),
    IPv4Interface: _ADDRESS.map("{}/24".format),
    UUID: st.uuids().map(str),
    Version: _VERSION,
}


def value_of(kind: ValueType) -> st.SearchStrategy[object]:
    """Values as a user writes them, numbers with or without quotes."""
    if kind.choices:
        return st.sampled_from(kind.choices)
    if kind.base is int:
        low, high = (kind.limits.low, kind.limits.high) if kind.limits else (0, 10_000)
        return st.integers(low, high).flatmap(lambda number: st.sampled_from([number, str(number)]))
    if kind.shape is None:
        return _BASES[kind.base]
    shape = kind.shape
    pattern = re.compile(shape.pattern, re.ASCII)
    random = st.from_regex(pattern, fullmatch=True).filter(
        lambda text: (
            len(text) <= shape.max_length and pattern.fullmatch(_folded(text, shape.lower_case))
        )
    )
    return st.one_of(st.just(shape.example), random.filter(lambda text: not is_encrypted(text)))


def _folded(text: str, folded: bool) -> str:
    return text.lower() if folded else text


@st.composite
def values(draw: Draw, kind: KeyType) -> object:
    """Values that a key of some kind may have."""
    match kind:
        case ValueType():
            return draw(value_of(kind))
        case AnyType():
            return draw(_FREE)
        case RecordType():
            return draw(blocks(kind.cls))
        case ListOf():
            return draw(st.lists(values(kind.item), min_size=int(kind.non_empty), max_size=2))
        case MapOf():
            names = value_of(ValueType(str, kind.names)) if kind.names else _TEXT
            return draw(st.dictionaries(names, values(kind.value), max_size=2))


@st.composite
def blocks(draw: Draw, cls: type) -> dict[str, object]:
    """Mappings for a record class: what it needs, and some of the rest."""
    needed = [member for member in record_keys(cls) if member.required]
    optional = [member for member in record_keys(cls) if not member.required]
    chosen = draw(
        st.lists(st.sampled_from(optional), max_size=_MOST_OPTIONAL_KEYS, unique_by=id)
        if optional
        else st.just([])
    )
    block = {}
    for member in draw(st.permutations([*needed, *chosen])):
        if member.name not in ("class", "extends"):
            block[member.name] = draw(values(member.type))
    return block


@st.composite
def estates(draw: Draw) -> dict[str, Any]:
    """What a user may write, in the one shape."""
    kinds = {member.name: member.type for member in record_keys(Configuration)}
    names = draw(st.lists(st.sampled_from(CLUSTER_SECTIONS), max_size=4, unique=True))
    estate = {name: draw(values(kinds[name])) for name in names}
    return {**estate, **draw(machines())}


@st.composite
def machines(draw: Draw) -> dict[str, Any]:
    """Nodes, classes, guests and hosts; nodes and classes name classes that exist."""
    kinds = {member.name: member.type for member in record_keys(Configuration)}
    names = draw(st.lists(st.sampled_from(MACHINE_SECTIONS), max_size=3, unique=True))
    found: dict[str, Any] = {name: draw(values(kinds[name])) for name in names if name != "classes"}
    if "classes" in names:
        chosen = draw(st.lists(st.sampled_from(_CLASS_NAMES), min_size=1, max_size=3, unique=True))
        class_kind = kinds["classes"]
        assert isinstance(class_kind, MapOf)
        found["classes"] = {name: draw(values(class_kind.value)) for name in chosen}
        for name, base in zip(chosen[1:], chosen[:-1], strict=True):
            if draw(_FLAG):
                found["classes"][name]["extends"] = base
        for node in found.get("nodes", ()):
            if draw(_FLAG):
                node["class"] = draw(st.sampled_from(chosen))
    return found


@st.composite
def flat_keys(draw: Draw) -> dict[str, object]:
    """Flat keys of cluster.yaml."""
    names = draw(st.lists(st.sampled_from(list(CLASSIC_KEYS)), max_size=8, unique=True))
    flat = {name: draw(values(flat_record_key(name).type)) for name in names}
    if repository_address(str(flat.get("repository_name")), private=False) and draw(_FLAG):
        flat[VISIBILITY_KEY] = draw(st.sampled_from(["public", "private"]))
    return flat


@st.composite
def classic_estates(draw: Draw) -> tuple[dict[str, Any], dict[str, Any]]:
    """What cluster.yaml and nodes.yaml may say: flat keys and sections that do not say the same."""
    flat = draw(flat_keys())
    estate = draw(estates())
    sections = {name: estate[name] for name in CLUSTER_SECTIONS if name in estate}
    for name in flat:
        _forget(sections, CLASSIC_KEYS.get(name, ""))
    keys = draw(st.permutations([*flat.items(), *sections.items()]))
    return dict(keys), {name: estate[name] for name in MACHINE_SECTIONS if name in estate}


def _forget(sections: dict[str, Any], path: str) -> None:
    *outer, last = path.partition("[")[0].split(".")
    place: Any = sections
    for step in outer:
        place = place.get(step, {})
    place.pop(last, None)


def _yaml_forms(value: object) -> st.SearchStrategy[str]:
    """The same value as several writers would put it."""
    forms = [
        yaml_writer.render_yaml_document(value),
        yaml.safe_dump(value, sort_keys=False),
        yaml.safe_dump(value, sort_keys=False, default_flow_style=True, width=40),
    ]
    as_json = json.dumps(value, indent=2)
    return st.sampled_from(forms if "\\ud" in as_json else [*forms, as_json])


@st.composite
def classic_files(draw: Draw) -> Contents:
    """The two files of the classic dialect."""
    cluster, nodes = draw(classic_estates())
    return {
        "cluster.yaml": draw(_yaml_forms(cluster)).encode(),
        "nodes.yaml": draw(_yaml_forms(nodes)).encode(),
    }


@st.composite
def toml_files(draw: Draw) -> Contents:
    """The file of the TOML dialect."""
    return {"cluster.toml": toml_writer.render_toml(draw(estates())).encode()}


class Marked:
    """A value with a comment of its own above and beside every key and item of it."""

    def __init__(self) -> None:
        self.marks: list[str] = []

    def mark(self, value: object) -> object:
        if isinstance(value, dict):
            return {key: self._around(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._around(item) for item in value]
        return value

    def _around(self, value: object) -> Commented:
        above, beside = self._next(), self._next()
        return Commented(value=self.mark(value), above=(above,), beside=beside)

    def _next(self) -> str:
        self.marks.append(f"<remark {len(self.marks)}>")
        return self.marks[-1]


@st.composite
def commented_classic_files(draw: Draw) -> tuple[Contents, list[str]]:
    """The classic files with comments everywhere, and those comments."""
    cluster, nodes = draw(classic_estates())
    marked = Marked()
    texts = {"cluster.yaml": marked.mark(cluster), "nodes.yaml": marked.mark(nodes)}
    written = {
        name: yaml_writer.render_yaml_document(text).encode() for name, text in texts.items()
    }
    return written, marked.marks


@st.composite
def commented_toml_files(draw: Draw) -> tuple[Contents, list[str]]:
    """The TOML file with comments everywhere, and those comments."""
    marked = Marked()
    text = toml_writer.render_toml(marked.mark(draw(estates())))
    return {"cluster.toml": text.encode()}, marked.marks
