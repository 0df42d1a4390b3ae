"""The schema of one profile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple, TypedDict

from stockman.model.package_file import read_package_bytes
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.schema import router
from stockman_lab.pve.schema.operation import Operation
from stockman_lab.pve.schema.shape import Shapes

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
        self._root = router.tree(calls)

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
        path = router.decoded(path)
        way = router.found(self._root, path)
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
