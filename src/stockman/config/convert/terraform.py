"""Variables of a Terraform stack (`variables.tf`, `*.tfvars`): values only, nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stockman.config.convert.building import Building, text_at
from stockman.config.convert.foreign import NO_COMMENTS, converted, say_of_network
from stockman.config.convert.hcl import HclFile, read_hcl
from stockman.config.convert.machine_keys import NO_SUCH_KEY, Machine, sized
from stockman.config.convert.result import Converted
from stockman.config.convert.terraform_names import (
    OF_ALL_NODES,
    OF_ALL_VMS,
    PATHS,
    WHOLE_TOKENS,
    of_role,
)
from stockman.config.convert.terraform_nodes import add_nodes, are_nodes
from stockman.config.source.text import Unreadable, decoded
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence
from stockman.model.origin import Position
from stockman.model.problem import Problems

_ORIGIN = re.compile(r"(https?://[^/\s]+)(?:/.*)?")
_ENDPOINT = re.compile(r"(?:https?://)?([^/:\s]+)(?::\d+)?/?")
_EXPRESSION = "it is an expression, which only Terraform can work out"
_NO_DEFAULT = "it has no default value"
_COMMENTS_STAY = "comments and descriptions of variables are not carried"


def terraform_to(file: str, content: bytes, *, to_toml: bool) -> Converted:
    """The configuration that the variables of a stack give, as far as it goes."""
    try:
        source = read_hcl(file, decoded(file, content))
    except Unreadable as unreadable:
        return Converted(problems=Problems([unreadable.problem]))
    building = Building(file)
    building.blanks = source.expressions
    machines: list[Machine] = []
    for entry in _variables(source, building):
        _lose_expressions(entry.name, entry.value, source.expressions, building)
        if entry.value.at in source.expressions:
            continue
        if are_nodes(entry.value):
            machines += add_nodes(entry, building)
        else:
            _add(entry, building)
    say_of_network(machines, building)
    return converted(building, NO_COMMENTS, to_toml=to_toml, notes=(_COMMENTS_STAY,))


def _variables(source: HclFile, building: Building) -> Iterator[Entry]:
    """Values by name: defaults of variables, locals, and assignments of a tfvars file."""
    for name, entry in source.body.attributes.entries.items():
        yield Entry(entry.key, entry.value, name=name)
    for block in source.body.of_kind("locals"):
        for name, entry in block.body.attributes.entries.items():
            yield Entry(entry.key, entry.value, name=name)
    for block in source.body.of_kind("variable"):
        name = block.labels[0] if block.labels else ""
        default = block.body.attributes.entries.get("default")
        if default is None or _is_null(default.value, source.expressions):
            building.lose(name, block.at, _NO_DEFAULT)
        else:
            yield Entry(default.key, default.value, name=name)


def _is_null(value: Node, expressions: frozenset[Position]) -> bool:
    return isinstance(value, Scalar) and value.is_null and value.at not in expressions


def _lose_expressions(
    name: str, node: Node, expressions: frozenset[Position], building: Building
) -> None:
    if node.at in expressions:
        building.lose(name, node.at, _EXPRESSION)
    if isinstance(node, Mapping):
        for key, entry in node.entries.items():
            _lose_expressions(f"{name}.{key}", entry.value, expressions, building)
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            _lose_expressions(f"{name}[{index}]", item, expressions, building)


def _add(entry: Entry, building: Building) -> None:
    name = entry.name.lower()
    role = of_role(name)
    if name in WHOLE_TOKENS and isinstance(entry.value, Scalar):
        _add_token(entry, entry.value, building)
    elif name in PATHS:
        building.put(PATHS[name], _respelled(PATHS[name], entry))
    elif role is not None:
        building.put(f"classes.{role[0]}.vm.{role[1]}", _respelled(role[1], entry))
    elif name in OF_ALL_VMS or name in OF_ALL_NODES:
        key = OF_ALL_NODES.get(name) or f"vm.{OF_ALL_VMS[name]}"
        for one in ("controller", "worker"):
            building.put(f"classes.{one}.{key}", entry)
    else:
        building.lose(entry.name, entry.key.at, NO_SUCH_KEY)


def _add_token(entry: Entry, value: Scalar, building: Building) -> None:
    identity, equals, secret = value.text.partition("=")
    if not equals:
        building.lose(entry.name, entry.key.at, "it is not `user@realm!name=secret`")
        return
    for path, text in (("token_id", identity), ("token_secret", secret)):
        part = Entry(entry.key, text_at(text, value), name=entry.name)
        building.put(f"proxmox.{path}", part)


def _respelled(path: str, entry: Entry) -> Entry:
    """The value as its key wants it: an address without its path, a size without its unit."""
    value = entry.value
    if not isinstance(value, Scalar):
        return entry
    spelled: Scalar | None = None
    if path == "proxmox.endpoint" and (origin := _ORIGIN.fullmatch(value.text)):
        spelled = text_at(origin[1], value)
    elif path == "kubernetes.api.addr" and (endpoint := _ENDPOINT.fullmatch(value.text)):
        spelled = text_at(endpoint[1], value)
    elif path == "disk_gb":
        spelled = sized(value)
    return entry if spelled is None else Entry(entry.key, spelled, name=entry.name)
