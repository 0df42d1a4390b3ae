"""The schema of one profile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, TypedDict
from urllib.parse import unquote_to_bytes

from stockman.model.package_file import read_package_bytes
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.schema.operation import Operation
from stockman_lab.pve.schema.shape import Shapes

_BLANK = re.compile(r"\s")


class Branch:
    """Where a path can go on: by fixed names, or by one argument."""

    __slots__ = ("argument", "below", "calls", "fixed", "swallows")

    def __init__(self) -> None:
        self.fixed: dict[str, Branch] = {}
        self.argument = ""
        self.below: Branch | None = None
        self.swallows = False
        """Whether the argument takes the rest of the path."""
        self.calls: dict[str, Operation] = {}

    def grown(self, segment: str) -> Branch:
        """The branch behind a segment of a template."""
        if not segment.startswith("{"):
            return self.fixed.setdefault(segment, Branch())
        name = segment[1:-1]
        self.swallows = name.endswith("*")
        self.argument = name.removesuffix("*")
        self.below = self.below or Branch()
        return self.below


def build_tree(calls: Iterable[tuple[str, Operation]]) -> Branch:
    """The root of all paths; each call comes with the template of its path."""
    root = Branch()
    for template, operation in calls:
        branch = root
        for segment in template.split("/")[1:]:
            branch = branch.grown(segment)
        branch.calls[operation.method] = operation
    return root


def find_branch(root: Branch, path: str) -> tuple[Branch, dict[str, str]] | None:
    """The branch of a decoded path and the arguments in it; empty segments do not count."""
    arguments: dict[str, str] = {}
    branch = root
    segments = [segment for segment in path.split("/") if segment]
    may_have_blanks = _BLANK.search(path) is not None
    for place, segment in enumerate(segments):
        below = branch.fixed.get(segment)
        if below is None:
            below = branch.below
            if below is None:
                return None
            if branch.swallows:
                segment = "/".join(segments[place:])
            if may_have_blanks and _BLANK.search(segment):
                return None
            arguments[branch.argument] = segment
            if branch.swallows:
                return below, arguments
        branch = below
    return branch, arguments


def decode_path(path: str) -> str:
    """A path without percent signs; bytes that are no UTF-8 are taken one by one."""
    if "%" not in path:
        return path
    raw = unquote_to_bytes(path)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


PROFILES = ("8.4", "9.1")


class Routed(NamedTuple):
    """A call, and the arguments that its path holds."""

    operation: Operation
    arguments: dict[str, str]


class Table(TypedDict):
    """What the file of a profile holds."""

    shapes: list[dict[str, object]]
    groups: list[dict[str, int]]
    rights: list[str | list[object]]
    calls: dict[str, dict[str, tuple[str, int, int, int, str]]]
    """Name, shape of parameters, shape of the result, rights and marks, by path and method."""


class Schema:
    """All calls of one profile."""

    def __init__(self, profile: str, table: Table) -> None:
        self.profile = profile
        calls = list(_calls(profile, table))
        self.operations: Mapping[tuple[str, str], Operation] = {
            (operation.method, operation.path): operation for _, operation in calls
        }
        """All calls, by method and template of the path."""
        self._root = build_tree(calls)

    @staticmethod
    def of(profile: str) -> Schema:
        """The schema of a profile, read once."""
        return _schema(profile)

    def operation(self, method: str, path: str) -> Operation:
        """The call with this method and template of the path."""
        return self.operations[method, path]

    def route(self, method: str, path: str) -> Routed:
        """The call that a request means; the path is the one below `/api2/json`, as it was sent.

        It is decoded here, once. What does not exist is refused with 501.
        """
        path = decode_path(path)
        way = find_branch(self._root, path)
        operation = None if way is None else way[0].calls.get(method)
        if way is None or operation is None:
            raise ApiError(501, f"Method '{method} {path or '/'}' not implemented")
        return Routed(operation, way[1])


def _calls(profile: str, table: Table) -> Iterator[tuple[str, Operation]]:
    shapes = Shapes(table["shapes"], table["groups"])
    for template, methods in table["calls"].items():
        path = template.replace("*}", "}")
        for method, (name, parameters, returns, rights, marks) in methods.items():
            yield (
                template,
                Operation(
                    profile=profile,
                    method=method,
                    path=path,
                    name=name,
                    rights=table["rights"][rights],
                    marks=marks,
                    shapes=shapes,
                    parameters_shape=parameters,
                    returns_shape=returns,
                ),
            )


@cache
def _schema(profile: str) -> Schema:
    if profile not in PROFILES:
        raise ValueError(f"no profile {profile!r}; there are {', '.join(PROFILES)}")
    table = read_package_bytes(__package__, f"tables/{profile}.json")
    return Schema(profile, json.loads(table))
