"""Compare your Proxmox VE with the lab, read-only: types of values, never the values.

    python -m scripts.compare_with_proxmox https://HOST:8006 --token-file FILE [--ca FILE]

The file contains `user@realm!name=secret`; a token with the role PVEAuditor on `/` is sufficient.
Only GET requests are made, for calls that the lab implements. The same calls are made to a lab in
memory. Only paths, key names and types are printed, never names of hosts, guests or users.
"""

from __future__ import annotations

import argparse
import json
import re
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from stockman_lab.pve.api.registry import load_endpoints
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.schema.shape import Shape
from stockman_lab.servers.memory import MemoryClient

from lab.tests.populated import populated

Get = Callable[[str], Any]
LEFT_OUT = ("/access/ticket", "/cluster/log", "/cluster/tasks")
"""Calls that tell of people, or need a password."""
MOST_ROWS = 50


class Real:
    """The Proxmox VE that is asked."""

    def __init__(self, endpoint: str, token: str, ca: str | None) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._header = {"Authorization": f"PVEAPIToken={token}"}
        self._context = ssl.create_default_context(cafile=ca)
        if ca is None:
            self._context.check_hostname = False
            self._context.verify_mode = ssl.CERT_NONE

    def get(self, path: str) -> Any:  # noqa: ANN401  # whatever it answers
        """The data of an answer; None where it is refused."""
        url = f"{self._endpoint}/api2/json{path}"
        request = urllib.request.Request(url, headers=self._header)
        try:
            with urllib.request.urlopen(request, context=self._context, timeout=30) as reply:
                return json.load(reply).get("data")
        except urllib.error.HTTPError:
            return None


class Lab:
    """The lab that it is compared with."""

    def __init__(self, profile: str) -> None:
        self._door: MemoryClient = populated(profile, 1)
        for host in self._door.cluster.state.hosts.values():
            for number, disk in enumerate(host.disks):
                disk.serial = disk.serial or f"SERIAL{number}"

    def get(self, path: str) -> Any:  # noqa: ANN401  # whatever it answers
        """The data of an answer; None where it is refused."""
        call, _, query = path.partition("?")
        try:
            return self._door.get(call, **dict(urllib.parse.parse_qsl(query)))
        except ApiError:
            return None


def paths(get: Get) -> Iterator[tuple[str, str]]:
    """Templates of calls, with paths that exist there: of every host, and of every guest."""
    nodes = [{"node": row["node"]} for row in get("/nodes") or ()]
    guests = get("/cluster/resources?type=vm") or []
    for method, template in sorted(load_endpoints()):
        if method != "GET" or template.startswith(LEFT_OUT):
            continue
        kind = "lxc" if "/lxc/" in template else "qemu"
        guests_or_nodes = (
            nodes if "{vmid}" not in template else [g for g in guests if g["type"] == kind]
        )
        filled = {_fill_path(template, guest) for guest in guests_or_nodes[:MOST_ROWS]} or {
            template
        }
        yield from ((template, path) for path in sorted(filled) if "{" not in path)


def _fill_path(template: str, values: dict[str, object]) -> str:
    for name in ("node", "vmid"):
        template = template.replace(f"{{{name}}}", str(values.get(name, f"{{{name}}}")))
    return template


def kinds(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Places in an answer, with the kind of what stands there."""
    if isinstance(value, list):
        for item in value[:MOST_ROWS]:
            yield from kinds(item, f"{path}[]")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from kinds(item, f"{path}.{_without_number(name)}")
    elif value is not None:
        yield path, "number" if isinstance(value, int | float) else type(value).__name__


def _without_number(name: str) -> str:
    return re.sub("[0-9]+", "[n]", name)


def collect_answers(get: Get) -> dict[str, dict[str, set[str]]]:
    """Kinds by place, by call."""
    answers: dict[str, dict[str, set[str]]] = {}
    for template, path in paths(get):
        data = get(path)
        if data is None:
            continue
        seen = answers.setdefault(template, {})
        for path, kind in kinds(data, template):
            seen.setdefault(path, set()).add(kind)
    return answers


def schema_paths(shape: Shape, path: str) -> Iterator[str]:
    """Places that the schema names."""
    yield path
    if shape.items is not None:
        yield from schema_paths(shape.items, f"{path}[]")
    for name, member in (shape.parts or {}).items():
        yield from schema_paths(member.shape, f"{path}.{_without_number(name)}")


def settable(schema: Schema, template: str) -> set[str]:
    """Names that calls which make or change the same thing take: answers may show them again."""
    above = template.rpartition("/")[0]
    calls = [(method, path) for method in ("POST", "PUT") for path in (template, above)]
    return {name for call in calls if call in schema.operations
            for name in schema.operations[call].parameters}  # fmt: skip


def differences(
    mine: dict[str, set[str]], labs: dict[str, set[str]], known: set[str]
) -> Iterator[str]:
    """Where an answer has something that the lab does not know, or has as another kind."""
    for path, kinds_here in sorted(mine.items()):
        expected = labs.get(path)
        if expected is not None and not kinds_here & expected:
            yield f"{path} is {_join(kinds_here)}, and {_join(expected)} in the lab"
        elif expected is None and path not in known and path.rpartition(".")[2] not in known:
            yield f"{path} is not known to the lab ({_join(kinds_here)})"


def _join(names: set[str]) -> str:
    return " or ".join(sorted(names))


def main(arguments: list[str]) -> int:
    """Ask, compare, print; exits with 1 where something differs, with 2 where nobody answers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("endpoint")
    parser.add_argument("--token-file", required=True, type=Path)
    parser.add_argument("--ca")
    parser.add_argument("--pve", choices=("8.4", "9.1"), default="9.1")
    options = parser.parse_args(arguments)
    real = Real(options.endpoint, options.token_file.read_text().strip(), options.ca)
    try:
        if real.get("/version") is None:
            print("it does not let this token in", file=sys.stderr)
            return 2
    except OSError as error:
        print(f"{options.endpoint} does not answer: {error}", file=sys.stderr)
        return 2
    schema = Schema.of(options.pve)
    mine, labs = collect_answers(real.get), collect_answers(Lab(options.pve).get)
    lines: list[str] = []
    for template, seen in mine.items():
        operation = schema.operations.get(("GET", template))
        if operation is None:
            continue
        known = {*schema_paths(operation.returns, template), *settable(schema, template)}
        lines += differences(seen, labs.get(template, {}), known)
    for line in lines:
        print(line)
    print(f"{len(mine)} calls compared, {len(lines)} differences", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
