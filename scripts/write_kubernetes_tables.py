"""Generate the tables of Kubernetes kinds and their fields.

Discovery and OpenAPI documents come from a real kube-apiserver. The order of fields, omitted empty
values, and the type names of the decoder are read from the Go structs of its modules. Only facts
are kept: names, types, kinds of lists and maps, keys, defaults, values of enumerations.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.real.rendered.api_server import ApiServer, api_server
from tools.provide import Provider

PLACE = Path(__file__).parents[1] / "lab/src/stockman_lab/kube/schema/tables"
COLUMNS = PLACE.parents[1] / "tables"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MODULES = {
    "io.k8s.api.": "k8s.io/api",
    "io.k8s.apimachinery.": "k8s.io/apimachinery",
    "io.k8s.apiextensions-apiserver.": "k8s.io/apiextensions-apiserver",
    "io.k8s.kube-aggregator.": "k8s.io/kube-aggregator",
}
PLAIN = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "microtime",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "?meta.v1.FieldsV1",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Patch": "?meta.v1.Patch",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "?pkg.runtime.RawExtension",
} | {
    f"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.{name}": f"?apiextensions.v1.{name}"
    for name in (
        *("JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool"),
        "JSONSchemaPropsOrStringArray",
    )
}
"""Definitions that are read and written in ways of their own; `?`: they are kept as they come."""
SCALARS = {
    ("string", None): "string",
    ("string", "byte"): "bytes",
    ("boolean", None): "bool",
    ("integer", "int32"): "int32",
    ("integer", "int64"): "int64",
    ("number", "double"): "double",
}
_STRUCT = re.compile(r"^type (\w+) struct ?\{(\}|\n.*?^\})", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^\t(?:(\w+)[ \t]+)?(\S+)[ \t]+`.*?json:"([^"]*)"', re.MULTILINE)
_BUILTIN = {"string", "bool", "int32", "int64", "float64", "int", "[]byte"}


@dataclass(frozen=True, slots=True)
class Member:
    """What a struct says of a field."""

    go: str
    pointer: bool
    omitted: str
    """`o`: left away when it is empty, `O`: also when it is a struct without values."""
    inlined: str
    """The struct inside of the struct that has it, whose fields are written as its own."""


class Structs:
    """Structs of the modules, by the names of their definitions."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._packages: dict[str, dict[str, str]] = {}
        self._places: dict[str, Path] = {}

    def members(self, definition: str) -> dict[str, Member]:
        """Fields in their order, by the names that they have in JSON."""
        package, _, name = definition.rpartition(".")
        return dict(self._members(package, name))

    def _members(self, package: str, name: str) -> Iterator[tuple[str, Member]]:
        for _, go, tag in _FIELD.findall(self._package(package)[name]):
            json_name, *options = tag.split(",")
            if "inline" in options or not json_name:
                for name, member in self._members(*self._named(package, go)):
                    outer = [] if go.endswith("TypeMeta") else [go]
                    inlined = ".".join([*outer, *filter(None, [member.inlined])])
                    yield name, replace(member, inlined=inlined)
            elif json_name != "-":
                omitted = "O" if "omitzero" in options else "o" * ("omitempty" in options)
                yield json_name, Member(self._qualified(package, go), go[0] == "*", omitted, "")

    def _named(self, package: str, go: str) -> tuple[str, str]:
        if go == "metav1.TypeMeta":
            return "io.k8s.apimachinery.pkg.apis.meta.v1", "TypeMeta"
        return package, go

    def _qualified(self, package: str, go: str) -> str:
        """The name of a type as Go's reflection says it: package and name."""
        prefix, bare = re.match(r"((?:\*|\[\]|map\[[\w.]+\])*)(.*)", go).groups()  # type: ignore[union-attr] # matches anything
        if bare in _BUILTIN or bare == "byte":
            return go
        if "." in bare:
            spelled, _, name = bare.partition(".")
            alias = {"metav1": "v1", "corev1": "v1", "v1": "v1"}.get(spelled, spelled)
            return f"{prefix}{alias}.{name}"
        return f"{prefix}{package.rpartition('.')[2]}.{bare}"

    def _package(self, package: str) -> dict[str, str]:
        if package not in self._packages:
            text = "\n".join(
                file.read_text("utf-8")
                for file in sorted(self._folder(package).glob("*.go"))
                if not file.name.endswith(("_test.go", "_generated.go", ".pb.go"))
            )
            self._packages[package] = dict(_STRUCT.findall(text))
        return self._packages[package]

    def _folder(self, package: str) -> Path:
        for prefix, module in MODULES.items():
            if package.startswith(prefix):
                rest = package.removeprefix(prefix).replace(".", "/")
                return self._module(module) / rest
        raise LookupError(package)

    def _module(self, module: str) -> Path:
        if module not in self._places:
            command = ["go", "mod", "download", "-json", f"{module}@{self._version}"]
            process = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
            self._places[module] = Path(json.loads(process.stdout)["Dir"])
        return self._places[module]


def short(definition: str) -> str:
    """`io.k8s.api.core.v1.Pod` is `core.v1.Pod`, and so on."""
    *package, version, name = definition.split(".")
    return f"{package[-1]}.{version}.{name}"


def reference(schema: dict[str, Any]) -> str:
    """The definition that a schema means, if it means one."""
    for one in (schema, *schema.get("allOf", ())):
        if "$ref" in one:
            return str(one["$ref"]).rpartition("/")[2]
    return ""


def spelled(schema: dict[str, Any], home: str) -> str:
    """A type: the name of a scalar or of a definition, `[type]` or `{type}`."""
    if named := reference(schema):
        if named in PLAIN:
            return PLAIN[named]
        return named.rpartition(".")[2] if named.rpartition(".")[0] == home else short(named)
    if schema.get("type") == "array":
        return f"[{spelled(schema['items'], home)}]"
    if schema.get("type") == "object":
        return f"{{{spelled(schema['additionalProperties'], home)}}}"
    return SCALARS[schema["type"], schema.get("format")]


def marks(schema: dict[str, Any], default: object) -> Iterator[str]:
    """What is special about a value."""
    if kind := schema.get("x-kubernetes-list-type"):
        keys = ",".join(schema.get("x-kubernetes-list-map-keys", ()))
        yield f"l={kind}" + (f":{keys}" if keys else "")
    if kind := schema.get("x-kubernetes-map-type"):
        yield f"m={kind}"
    if strategy := schema.get("x-kubernetes-patch-strategy"):
        yield f"p={strategy}"
    if key := schema.get("x-kubernetes-patch-merge-key"):
        yield f"k={key}"
    if default is not None:
        yield f"d={json.dumps(default, separators=(',', ':'))}"
    if values := schema.get("enum"):
        yield f"e={'|'.join(values)}"
    if values := schema.get("items", {}).get("enum"):
        yield f"E={'|'.join(values)}"


def fields(
    definition: str, schema: dict[str, Any], defaults: dict[str, Any], structs: Structs
) -> Iterator[tuple[str, str]]:
    """The row of every field, in the order of the struct."""
    home = definition.rpartition(".")[0]
    known = schema.get("properties", {})
    members = structs.members(definition)
    assert set(members) == set(known), (definition, set(members) ^ set(known))
    for name, member in members.items():
        facts = known[name]
        default = defaults.get("properties", {}).get(name, {}).get("default")
        row = [spelled(facts, home)]
        if member.pointer:
            row.append("*")
        if member.omitted:
            row.append(member.omitted)
        if name in schema.get("required", ()):
            row.append("r")
        if not default and not member.pointer:
            # That a struct is never absent is no default.
            default = None
        row += marks(facts, default)
        go = member.go.lstrip("*")
        if _is_named(row[0], go):
            row.append(f"g={go}")
        if member.inlined:
            row.append(f"i={member.inlined}")
        yield name, " ".join(row)


def _is_named(spelled_type: str, go: str) -> bool:
    """Whether Go has a name for what is a text, a number, or a list or a map of such."""
    if spelled_type in ("string", "int32", "int64"):
        return go != spelled_type
    return spelled_type[0] in "[{" and spelled_type.islower() and "." in go


def types(server: ApiServer, structs: Structs) -> dict[str, dict[str, dict[str, str]]]:
    """Package -> name of a type -> field -> row."""
    definitions = json.loads(server.told("/openapi/v2"))["definitions"]
    with_defaults: dict[str, Any] = {}
    for path_ in json.loads(server.told("/openapi/v3"))["paths"].values():
        document = json.loads(server.told(path_["serverRelativeURL"]))
        with_defaults |= document.get("components", {}).get("schemas", {})
    verbs: dict[str, dict[str, dict[str, str]]] = {}
    for definition, schema in sorted(definitions.items()):
        if definition in PLAIN or not definition.startswith("io.k8s."):
            continue
        package, version, name = short(definition).split(".")
        rows = dict(fields(definition, schema, with_defaults[definition], structs))
        if special := " ".join(marks(schema, None)):
            rows[""] = special
        verbs.setdefault(f"{package}.{version}", {})[name] = rows
    return verbs


_LEFT_OUT = frozenset(
    {
        *("certificates.k8s.io", "events.k8s.io"),
        *("flowcontrol.apiserver.k8s.io", "resource.k8s.io"),
    }
)
"""Groups that no component has objects of."""


def resources(server: ApiServer) -> list[dict[str, Any]]:
    """Groups in the order of discovery, with their versions and resources."""
    groups: list[dict[str, Any]] = []
    legacy = {"name": "", "versions": [{"groupVersion": "v1", "version": "v1"}]}
    for group in (legacy, *json.loads(server.told("/apis"))["groups"]):
        if group["name"] in _LEFT_OUT:
            continue
        versions = []
        for one in group["versions"]:
            root = f"/apis/{one['groupVersion']}" if group["name"] else "/api/v1"
            rows = json.loads(server.told(root))["resources"]
            versions.append({"version": one["version"], "resources": list(_resources(rows))})
        groups.append({"group": group["name"], "versions": versions})
    return groups


def _resources(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        name, _, below = row["name"].partition("/")
        if below:
            continue
        one = {word: row[word] for word in _KEPT if row.get(word)}
        below_it = [other for other in rows if other["name"].startswith(f"{name}/")]
        if below_it:
            one["subresources"] = [
                {"name": other["name"].partition("/")[2]}
                | {word: other[word] for word in _KEPT_BELOW if other.get(word)}
                for other in below_it
            ]
        yield one


_KEPT = (
    *("name", "singularName", "namespaced", "group", "version", "kind", "verbs"),
    *("shortNames", "categories", "storageVersionHash"),
)
_KEPT_BELOW = ("group", "version", "kind", "verbs")


def columns(server: ApiServer, groups: list[dict[str, Any]]) -> dict[str, Any]:
    """The columns of tables of each resource: name, type, format and priority."""
    found: dict[str, Any] = {}
    for group in groups:
        for version in group["versions"]:
            root = f"/apis/{group['group']}" if group["group"] else "/api"
            for one in version["resources"]:
                if "list" in one["verbs"]:
                    path = f"{root}/{version['version']}/{one['name']}"
                    table = server.sent("GET", path, accept=TABLE).content
                    found[path.removeprefix("/apis/").removeprefix("/api/")] = [
                        [row["name"], row["type"], row["format"], row["priority"]]
                        for row in table["columnDefinitions"]
                    ]
    return found


def written(value: object) -> str:
    """One line for each entry of the outermost dictionary or list."""
    if isinstance(value, dict):
        rows = (f"{json.dumps(name)}:{_tight(one)}" for name, one in value.items())
        return "{\n" + ",\n".join(rows) + "\n}\n"
    assert isinstance(value, list)
    return "[\n" + ",\n".join(map(_tight, value)) + "\n]\n"


def _tight(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def main() -> None:
    """Write the tables."""
    provider = Provider()
    version = provider.find("kube-apiserver").version
    with (
        tempfile.TemporaryDirectory() as directory,
        api_server(Path(directory), provider.path) as server,
    ):
        tables = types(server, Structs(f"v0.{version.partition('.')[2]}"))
        groups = resources(server)
        shown = columns(server, groups)
    for old in PLACE.glob("*.json"):
        old.unlink()
    PLACE.mkdir(exist_ok=True)
    (PLACE / "resources.json").write_text(written(groups), "utf-8")
    (COLUMNS / "columns.json").write_text(written(shown), "utf-8")
    for package, table in tables.items():
        (PLACE / f"{package}.json").write_text(written(table), "utf-8")


if __name__ == "__main__":
    main()
