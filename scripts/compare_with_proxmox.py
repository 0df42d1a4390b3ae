"""Compares a Proxmox VE of yours with the lab, read-only: shapes of answers, never their values.

    python scripts/compare_with_proxmox.py https://HOST:8006 --token-file FILE [--ca FILE]

The file holds `user@realm!name=secret`; a token with the role PVEAuditor on `/` is enough. Only GET
is used, and only for calls that the lab has. What is printed are paths, names of keys and kinds of
values: nothing that a host, a guest or a user is called.
"""

from __future__ import annotations

import argparse
import json
import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stockman.lab.pve.api.registry import load_endpoints
from stockman.lab.pve.schema.schema import Schema
from stockman.lab.pve.schema.shape import Shape

LEFT_OUT = ("/access/ticket", "/cluster/log", "/cluster/tasks")
"""Calls that tell of people, or need a password."""
KINDS = {"integer": (int, str), "number": (int, float, str), "boolean": (int, bool, str)}


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


def paths(real: Real) -> Iterator[tuple[str, str]]:
    """Templates of calls, with paths that exist on this Proxmox VE."""
    node = next((row["node"] for row in real.get("/nodes") or ()), None)
    guests = real.get("/cluster/resources?type=vm") or []
    known = {"node": node}
    for method, template in sorted(load_endpoints()):
        if method != "GET" or template.startswith(LEFT_OUT):
            continue
        kind = "lxc" if "/lxc/" in template else "qemu"
        guest = next((row for row in guests if row["type"] == kind), None)
        filled = template
        values = dict(known)
        if guest is not None:
            values |= {"vmid": guest["vmid"], "node": guest["node"]}
        for name, value in values.items():
            if value is not None:
                filled = filled.replace(f"{{{name}}}", str(value))
        if "{" not in filled:
            yield template, filled


def differences(shape: Shape, value: object, place: str) -> Iterator[str]:
    """Where an answer is not what the schema, and so the lab, says."""
    if shape.items is not None and isinstance(value, list):
        for one in value[:50]:
            yield from differences(shape.items, one, f"{place}[]")
    elif shape.parts is not None and isinstance(value, dict):
        for name, item in value.items():
            part = shape.parts.get(name) or shape.parts.get(f"{name.rstrip('0123456789')}[n]")
            if part is None:
                yield f"{place}.{name} is not in the schema ({type(item).__name__})"
            else:
                yield from differences(part.shape, item, f"{place}.{name}")
    elif shape.kind in KINDS and not isinstance(value, KINDS[shape.kind]) and value is not None:
        yield f"{place} is {type(value).__name__}, and {shape.kind} is promised"


def main(arguments: list[str]) -> int:
    """Ask, compare, print; exits with 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("endpoint")
    parser.add_argument("--token-file", required=True, type=Path)
    parser.add_argument("--ca")
    parser.add_argument("--pve", choices=("8.4", "9.1"), default="9.1")
    given = parser.parse_args(arguments)
    real = Real(given.endpoint, given.token_file.read_text().strip(), given.ca)
    schema = Schema.of(given.pve)
    found: dict[str, None] = {}
    asked = 0
    for template, path in paths(real):
        operation = schema.operations.get(("GET", template))
        data = real.get(path)
        if operation is None or data is None:
            continue
        asked += 1
        for line in differences(operation.returns, data, template):
            found.setdefault(line)
    for line in found:
        print(line)
    print(f"{asked} calls compared, {len(found)} differences", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
