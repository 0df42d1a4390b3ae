"""Generate the table of protobuf field numbers of Kubernetes.

Clients send built-in objects in protobuf. The field numbers are in the `generated.proto` files of
the modules `k8s.io/api` and `k8s.io/apimachinery`. Only facts are kept: names, numbers and types.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from stockman_lab.kube.schema.tables import table

VERSION = "v0.36.3"
PLACE = Path(__file__).parents[1] / "lab/src/stockman_lab/kube/protobuf/numbers.json"
SCHEMAS = Path(__file__).parents[1] / "lab/src/stockman_lab/kube/schema/tables"
_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(
    r"^  (optional|repeated|map<string, ?([\w.]+)>) ?([\w.]*) (\w+) = (\d+);", re.MULTILINE
)
_PLAIN = {"string", "int32", "int64", "bool", "bytes", "double"}
_OTHERS = {"Quantity", "IntOrString", "RawExtension"}


def module(name: str) -> Path:
    """Where the files of a module are."""
    command = ["go", "mod", "download", "-json", f"{name}@{VERSION}"]
    document = json.loads(
        subprocess.run(command, capture_output=True, check=True, text=True).stdout
    )
    return Path(document["Dir"])


def main() -> None:
    numbers: dict[str, dict[str, str]] = {}
    for package in sorted(file.stem for file in SCHEMAS.glob("*.json") if file.stem != "resources"):
        file = proto_file(package)
        if file.exists():
            numbers[package] = dict(messages(package, file.read_text()))
    rows = ",\n".join(f'"{name}":{json.dumps(numbers[name], indent=0)}' for name in numbers)
    PLACE.write_text("{" + rows + "}\n")
    json.loads(PLACE.read_text())


def proto_file(package: str) -> Path:
    """The file of a package."""
    group, _, version = package.rpartition(".")
    if group == "meta":
        return module("k8s.io/apimachinery") / "pkg/apis/meta" / version / "generated.proto"
    return module("k8s.io/api") / group / version / "generated.proto"


def messages(package: str, text: str) -> Iterator[tuple[str, str]]:
    """Each message with its fields: name, number, type."""
    for name, body in _MESSAGE.findall(text):
        known = table(package).get(name, {})
        fields = []
        for label, mapped, kind, field, number in _FIELD.findall(body):
            spelled = f"{{{short(package, mapped)}}}" if mapped else short(package, kind)
            if label == "repeated":
                spelled = f"[{spelled}]"
            inlined = known and field not in known and "." in spelled
            fields.append(f"{number} {'+' if inlined else field} {spelled}")
        yield name, ",".join(fields)


def short(package: str, kind: str) -> str:
    """A type as the table spells it."""
    if kind in _PLAIN:
        return kind
    last = kind.rpartition(".")[2]
    if last in _OTHERS:
        return last
    names = kind.strip(".").split(".")
    return f"{names[-3]}.{names[-2]}.{last}" if len(names) > 2 else f"{package}.{last}"


if __name__ == "__main__":
    main()
