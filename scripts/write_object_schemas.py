"""Generate the tables of the kinds that are rendered, with their fields.

Only facts are kept: names of fields, their types, required ones, values, patterns and bounds.
Custom kinds come from their projects' definitions, built-in ones from a real kube-apiserver.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from stockman.model.secret import Secret
from stockman.rendering.checks.kinds import SHAPES, shape_file
from stockman.rendering.repository import RenderedRepository
from tests.real.rendered.api_server import ApiServer, api_server
from tests.real.rendered.definitions import definitions
from tests.real.rendered.estates import ESTATES, repository
from tools.provide import Provider

Shape = dict[str, Any]
Reference = str | int
Kind = tuple[str, str]
"""apiVersion and kind."""

KUSTOMIZE = "kustomize.config.k8s.io/"
_LEAVES = {"string": "text", "integer": "whole", "number": "number", "boolean": "yes-no"}
_BOUNDS = {
    "minimum": "least",
    "maximum": "most",
    "minLength": "shortest",
    "maxLength": "longest",
    "minItems": "fewest",
    "maxItems": "many",
    "pattern": "pattern",
}
_NOT_JUDGED = ("status", "metadata", "apiVersion", "kind")


class Table:
    """Shapes of one kind, each once."""

    def __init__(self, schemas: dict[str, Any] | None = None) -> None:
        self.shapes: dict[str, int] = {}
        self._schemas = schemas or {}

    def reference(self, schema: dict[str, Any]) -> Reference:
        """A schema as leaf, or as number of its shape."""
        shape = self._shape(self._resolved(schema))
        if isinstance(shape, str):
            return shape
        text = json.dumps(shape, separators=(",", ":"), sort_keys=True)
        return self.shapes.setdefault(text, len(self.shapes))

    def root(self, schema: dict[str, Any]) -> Reference:
        """The shape of whole objects, without what all kinds have and what no file says."""
        resolved = self._resolved(schema)
        fields = resolved.get("properties", {})
        own = {name: field for name, field in fields.items() if name not in _NOT_JUDGED}
        needed = [name for name in resolved.get("required", []) if name in own]
        return self.reference({**resolved, "type": "object", "properties": own, "required": needed})

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        if "allOf" in schema and len(schema["allOf"]) == 1 and "$ref" in schema["allOf"][0]:
            return self._resolved(schema["allOf"][0])
        if "$ref" in schema:
            return self._resolved(self._schemas[schema["$ref"].rpartition("/")[2]])
        return schema

    def _shape(self, schema: dict[str, Any]) -> Shape | str:
        shape = self._kept(schema)
        bounds: Shape = {
            ours: schema[theirs] for theirs, ours in _BOUNDS.items() if theirs in schema
        }
        if "pattern" in bounds:
            # Go lets a flag stand anywhere, Python only in front.
            bounds["pattern"] = re.sub(r"^\^\(\?i\)", "(?i)^", bounds["pattern"])
            re.compile(bounds["pattern"])
        if "enum" in schema:
            bounds["values"] = schema["enum"]
        if schema.get("nullable"):
            bounds["null"] = True
        if isinstance(shape, str) and not bounds:
            return shape
        return ({"is": shape} if isinstance(shape, str) else shape) | bounds

    def _kept(self, schema: dict[str, Any]) -> Shape | str:
        if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
            return "whole-or-text"
        if {branch.get("type") for branch in schema.get("oneOf", ())} == {"string", "number"}:
            return "whole-or-text"
        kind = schema.get("type")
        if kind in _LEAVES:
            return _LEAVES[kind]
        if kind == "array":
            return {"items": self.reference(schema["items"])}
        if kind == "object" or "properties" in schema:
            return self._mapping(schema)
        return "any"

    def _mapping(self, schema: dict[str, Any]) -> Shape | str:
        more = schema.get("additionalProperties")
        if "properties" not in schema:
            return {"each": self.reference(more)} if isinstance(more, dict) else "mapping"
        fields = {name: self.reference(field) for name, field in schema["properties"].items()}
        if schema.get("x-kubernetes-embedded-resource"):
            fields |= {"apiVersion": "text", "kind": "text", "metadata": "mapping"}
        shape: Shape = {"fields": fields}
        needed = {name for name in schema.get("required", ()) if not self._given(schema, name)}
        if needed:
            shape["needs"] = sorted(needed)
        if more or schema.get("x-kubernetes-preserve-unknown-fields"):
            shape["open"] = True
        return shape

    def _given(self, schema: dict[str, Any], name: str) -> bool:
        """Whether the server fills a field in; its own kinds name a default without doing so."""
        return not self._schemas and "default" in schema["properties"].get(name, {})


def kinds_of(repository: RenderedRepository) -> set[Kind]:
    """Kinds of all objects of a tree."""
    kinds = set()
    for file in repository.tree:
        if not file.path.startswith(("kubernetes/", "bootstrap/")) or ".yaml" not in file.path:
            continue
        if file.path.endswith(".gotmpl"):
            continue
        text = file.text.reveal() if isinstance(file.text, Secret) else file.text
        for document in yaml.safe_load_all(text):
            if isinstance(document, dict) and "kind" in document and "apiVersion" in document:
                kinds.add((document["apiVersion"], document["kind"]))
    return kinds


def builtin(server: ApiServer, kind: Kind) -> tuple[bool, Table, Reference]:
    """A kind of the server's own: whether it has a namespace, and its shapes."""
    version, name = kind
    path = f"apis/{version}" if "/" in version else f"api/{version}"
    schemas = json.loads(server.told(f"/openapi/v3/{path}"))["components"]["schemas"]
    group, _, short = version.rpartition("/")
    identity = {"group": group, "kind": name, "version": short}
    schema = next(
        one
        for one in schemas.values()
        if identity in one.get("x-kubernetes-group-version-kind", ())
    )
    resources = json.loads(server.told(f"/{path}"))["resources"]
    namespaced = next(one["namespaced"] for one in resources if one["kind"] == name)
    table = Table(schemas)
    return namespaced, table, table.root(schema)


def text_of(namespaced: bool, table: Table, root: Reference) -> str:
    """The table of a kind as a file: one shape in a line."""
    lines = ",\n".join(table.shapes)
    head = json.dumps({"namespaced": namespaced, "root": root})[1:-1]
    return f'{{{head}, "shapes": [\n{lines}\n]}}\n'


def wanted_kinds() -> set[Kind]:
    """Kinds of every estate of the tests, kustomize's own left out: those are written by hand."""
    kinds: set[Kind] = set()
    for estate in ESTATES:
        kinds |= kinds_of(repository(estate))
    return {kind for kind in kinds if not kind[0].startswith(KUSTOMIZE)}


def tables(server: ApiServer) -> dict[str, str]:
    """Every table, by its file."""
    known = definitions()
    found = {}
    for kind in sorted(wanted_kinds()):
        if kind in known:
            table = Table()
            namespaced, root = known[kind].namespaced, table.root(known[kind].schema)
        else:
            namespaced, table, root = builtin(server, kind)
        found[shape_file(*kind)] = text_of(namespaced, table, root)
    return found


def sources() -> set[str]:
    """Where the custom kinds come from, for NOTICE."""
    used = (definitions().get(kind) for kind in wanted_kinds())
    return {f"{artifact.source} ({artifact.licence})" for artifact in used if artifact is not None}


def main() -> None:
    with TemporaryDirectory() as directory, api_server(Path(directory), Provider().path) as server:
        for name, text in tables(server).items():
            path = SHAPES / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"{len(text):8} {name}")
    print(*sorted(sources()), sep="\n")


if __name__ == "__main__":
    main()
