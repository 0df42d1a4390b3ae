"""OpenAPI schemas of Kubernetes as JSON schemas for kubeconform."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.real.rendered.api_server import ApiServer
from tests.real.rendered.definitions import definitions

_DROPPED = ("default", "description", "format", "example", "nullable")
_ROOT = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
NATIVE = (
    *("api/v1", "apis/admissionregistration.k8s.io/v1", "apis/apps/v1"),
    *("apis/node.k8s.io/v1", "apis/storage.k8s.io/v1"),
)
"""Groups of the server whose kinds are rendered."""


def write_schemas(place: Path, server: ApiServer, kinds: set[tuple[str, str]]) -> list[str]:
    """Schemas of the kinds that are at hand; returns where kubeconform finds them."""
    for version, kind in kinds:
        if definition := definitions().get((version, kind)):
            path = place / "custom" / definition.group / f"{kind.lower()}_{definition.version}.json"
            _write(path, strict(definition.schema, {}, top=True))
    for group in NATIVE:
        schemas = json.loads(server.told(f"/openapi/v3/{group}"))["components"]["schemas"]
        for schema in schemas.values():
            for named in schema.get("x-kubernetes-group-version-kind", ()):
                if (f"{named['group']}/{named['version']}".lstrip("/"), named["kind"]) in kinds:
                    path = place / "native" / f"{named['kind'].lower()}_{named['version']}.json"
                    _write(path, strict(schema, schemas))
    return [
        f"{place}/custom/{{{{.Group}}}}/{{{{.ResourceKind}}}}_{{{{.ResourceAPIVersion}}}}.json",
        f"{place}/native/{{{{.ResourceKind}}}}_{{{{.ResourceAPIVersion}}}}.json",
    ]


def strict(schema: Any, schemas: dict[str, Any], *, top: bool = False) -> Any:
    """A schema that knows no other fields than those it names."""
    if isinstance(schema, list):
        return [strict(one, schemas) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return strict(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return {"type": ["integer", "string"]}
    kept = {
        key: value
        for key, value in schema.items()
        if key not in _DROPPED and not key.startswith("x-kubernetes-")
    }
    for key in ("items", "additionalProperties", "allOf", "anyOf", "oneOf", "not"):
        if key in kept:
            kept[key] = strict(kept[key], schemas)
    if "pattern" in kept:
        kept["pattern"] = re.sub(r"^\^\(\?i\)", "(?i)^", kept["pattern"])
    if "properties" in schema:
        fields = schema["properties"].items()
        kept["properties"] = {name: strict(one, schemas) for name, one in fields}
        embedded = schema.get("x-kubernetes-embedded-resource")
        if top or embedded:
            kept["properties"] |= {**_ROOT, "metadata": {"type": "object"}}
        is_open = schema.get("x-kubernetes-preserve-unknown-fields")
        if not is_open and "additionalProperties" not in schema and "type" in schema:
            kept["additionalProperties"] = False
    if schema.get("nullable") and isinstance(kept.get("type"), str):
        kept["type"] = [kept["type"], "null"]
    return kept


def _write(path: Path, schema: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(schema))
