"""Custom resource definitions of the kinds that are rendered, from their projects' own schemas.

Most stand in a directory of schemas beside the repository; the rest is read from the projects'
modules in the cache of Go. Nothing of them is copied into the repository.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

_BESIDE = Path(__file__).parents[4] / "shared" / "schemas" / "crds"
SCHEMAS = Path(os.environ.get("STOCKMAN_SCHEMAS", _BESIDE))
"""Schemas by group, `GROUP/KIND_VERSION.json`, with an `index.json`."""
MODULES = {
    "github.com/envoyproxy/gateway@v1.9.0": (
        "charts/gateway-helm/charts/crds/crds/generated/*.yaml"
    ),
    "sigs.k8s.io/external-dns@v0.21.0": "charts/external-dns/crds/*.yaml",
}
"""Modules that hold definitions which the directory lacks, and where."""
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Definition(NamedTuple):
    """One version of a kind."""

    group: str
    kind: str
    version: str
    plural: str
    namespaced: bool
    schema: dict[str, Any]
    """The openAPIV3Schema as the project wrote it."""
    source: str
    licence: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"


@cache
def definitions() -> dict[tuple[str, str], Definition]:
    """Every definition at hand, by apiVersion and kind."""
    index = SCHEMAS / "index.json"
    if not index.exists():
        pytest.skip(f"{SCHEMAS} holds no schemas: STOCKMAN_SCHEMAS names another directory")
    listed = json.loads(index.read_text())["schemas"]
    found = [_from_directory(entry) for entry in listed]
    for module, pattern in MODULES.items():
        for file in sorted(_module(module).glob(pattern)):
            found.extend(_from_file(file, module))
    return {(one.api_version, one.kind): one for one in found}


def installed(wanted: list[Definition]) -> list[dict[str, Any]]:
    """Objects that make a server know these definitions; versions of a kind stand together."""
    kinds: dict[tuple[str, str], list[Definition]] = {}
    for one in wanted:
        kinds.setdefault((one.group, one.plural), []).append(one)
    return [_object(versions) for versions in kinds.values()]


def _object(versions: list[Definition]) -> dict[str, Any]:
    first = versions[0]
    served = [
        {
            "name": version.version,
            "served": True,
            "storage": index == 0,
            "schema": {"openAPIV3Schema": version.schema},
            "subresources": {"status": {}},
        }
        for index, version in enumerate(versions)
    ]
    names = {"kind": first.kind, "plural": first.plural, "singular": first.kind.lower()}
    metadata: dict[str, Any] = {"name": f"{first.plural}.{first.group}"}
    if first.group.endswith(("k8s.io", "kubernetes.io")):
        # The server refuses definitions of these groups that nobody vouched for.
        approval = "https://github.com/kubernetes/kubernetes/pull/78458"
        metadata["annotations"] = {"api-approved.kubernetes.io": approval}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": first.group,
            "names": names | {"listKind": f"{first.kind}List"},
            "scope": "Namespaced" if first.namespaced else "Cluster",
            "versions": served,
        },
    }


def _from_directory(entry: dict[str, Any]) -> Definition:
    return Definition(
        group=entry["group"],
        kind=entry["kind"],
        version=entry["version"],
        plural=entry["plural"],
        namespaced=entry["scope"] == "Namespaced",
        schema=json.loads((SCHEMAS / entry["file"]).read_text()),
        source=f"{entry['repo']} {entry['tag']}",
        licence=entry["license"],
    )


def _from_file(file: Path, module: str) -> list[Definition]:
    found = []
    for one in yaml.load_all(file.read_text(), Loader=_LOADER):
        spec = (one or {}).get("spec", {})
        found += [
            Definition(
                group=spec["group"],
                kind=spec["names"]["kind"],
                version=version["name"],
                plural=spec["names"]["plural"],
                namespaced=spec["scope"] == "Namespaced",
                schema=version["schema"]["openAPIV3Schema"],
                source=module.replace("@", " "),
                licence="Apache-2.0",
            )
            for version in spec.get("versions", ())
        ]
    return found


@cache
def _module(name: str) -> Path:
    """Where Go keeps a module; it is downloaded where it is missing."""
    done = subprocess.run(
        ["go", "mod", "download", "-json", name],
        env={**os.environ, "GOWORK": "off", "GOFLAGS": "-mod=mod", "GO111MODULE": "on"},
        cwd=Path.home(),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    answer = json.loads(done.stdout)
    assert answer.get("Dir"), f"{name}: {answer.get('Error', done.stderr)}"
    return Path(answer["Dir"])
