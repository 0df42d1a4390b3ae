"""kustomize, flux, kubeconform and a kube-apiserver judge a rendered repository.

The way of the objects is Flux's own: `flux build` makes the apps from the entry, and the objects
of each app from what it made; only the substitution of variables is done here.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from stockman.model.secret import Secret
from stockman.rendering.repository import RenderedRepository
from tests.real.rendered.api_server import ApiServer, api_server
from tests.real.rendered.definitions import definitions, installed
from tests.real.rendered.estates import ESTATES, repository
from tests.real.rendered.json_schema import write_schemas
from tools.pytest_plugin import RealTool

ENTRY = "kubernetes/flux/cluster/ks.yaml"
SHARED = "kubernetes/components/sops/cluster-secrets.sops.yaml"
FLUX = "kustomize.toolkit.fluxcd.io/"
KUSTOMIZE = "kustomize.config.k8s.io/"
SKIPPED: dict[str, str] = {}
"""Kinds that kubeconform may skip, each with the reason. All have a schema."""
_VARIABLE = re.compile(r"\$\{SECRET_DOMAIN(?:/(?P<old>[^/}]+)/(?P<new>[^}]*))?\}")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_AT_ONCE = 2

Object = dict[str, Any]


class Verdict(NamedTuple):
    """What the judges say of one repository."""

    kustomizations: int
    apps: int
    objects: int
    invalid: list[str]
    skipped: set[str]
    refused: list[str]


class Judges:
    """The programs, and one server for all repositories."""

    def __init__(self, tool: RealTool, server: ApiServer, locations: list[str]) -> None:
        self._tool = tool
        self.server = server
        self._locations = locations

    def judge(self, found: RenderedRepository, place: Path) -> Verdict:
        """Every judge's word on a repository; what cannot even be built fails at once."""
        _write(found, place)
        folders = _kustomizations(place)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self.kustomize, folders))
        entry = self._entry(place)
        apps = [one for one in entry if one["apiVersion"].startswith(FLUX)]
        ours = [app for app in apps if app["spec"]["sourceRef"]["name"] == "flux-system"]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            built = list(pool.map(lambda app: self._app(app, place), ours))
        objects = [*entry, *(one for objects in built for one in objects), *_bootstrap(place)]
        file = listed(objects, place)
        invalid, skipped = self.kubeconform(file)
        return Verdict(
            kustomizations=len(folders),
            apps=len(ours),
            objects=len(objects),
            invalid=invalid,
            skipped=skipped,
            refused=self.refused(objects, file),
        )

    def kustomize(self, folder: Path) -> str:
        return self._run("kustomize", "build", folder, place=folder)

    def _entry(self, place: Path) -> list[Object]:
        command = ("build", "kustomization", "cluster-apps", "--path", "kubernetes/apps")
        more = ("--kustomization-file", ENTRY, "--dry-run")
        text = self._run("flux", *command, *more, place=place)
        return [*_objects(text), *_objects((place / ENTRY).read_text())]

    def _app(self, app: Object, place: Path) -> list[Object]:
        name, namespace = app["metadata"]["name"], app["metadata"]["namespace"]
        file = place / f"app-{namespace}-{name}.yaml"
        file.write_text(yaml.safe_dump(app))
        command = ("build", "kustomization", name, "--path", app["spec"]["path"])
        more = ("--namespace", namespace, "--kustomization-file", file.name, "--dry-run")
        return _objects(
            substituted(self._run("flux", *command, *more, place=place), _domain(place))
        )

    def kubeconform(self, file: Path) -> tuple[list[str], set[str]]:
        locations = [
            word for location in self._locations for word in ("-schema-location", location)
        ]
        command = ("-strict", "-ignore-missing-schemas", "-output", "json", "-verbose")
        done = subprocess.run(
            [self._tool("kubeconform"), *command, *locations, file],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        resources = json.loads(done.stdout)["resources"]
        invalid = [
            f"{resource['kind']} {resource['name']}: {resource['msg']}"
            for resource in resources
            if resource["status"] not in ("statusValid", "statusSkipped")
        ]
        return invalid, {
            f"{resource['version']} {resource['kind']}"
            for resource in resources
            if resource["status"] == "statusSkipped"
        }

    def refused(self, objects: list[Object], file: Path) -> list[str]:
        """What the server would not take; namespaces are made first, and judged with the rest."""
        spaces = [one for one in objects if one["kind"] == "Namespace"]
        made = json.dumps({"apiVersion": "v1", "kind": "List", "items": spaces})
        answer = self.server.ask(
            *("apply", "--server-side", "--force-conflicts", "--validate=false", "-f", "-"),
            text=made,
        )
        assert answer.returncode == 0, answer.stderr
        answer = self.server.ask(
            *("apply", "--server-side", "--force-conflicts", "--dry-run=server"),
            *("--validate=strict", "-o", "name", "-f", str(file)),
        )
        accepted = answer.stdout.split()
        short = [] if len(accepted) == len(objects) else [f"{len(accepted)} of {len(objects)}"]
        return [*answer.stderr.splitlines(), *short]

    def _run(self, tool: str, *command: str | Path, place: Path) -> str:
        done = subprocess.run(
            [self._tool(tool), *command],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, f"{tool} {' '.join(map(str, command))}: {done.stderr}"
        return done.stdout


@contextmanager
def judges(place: Path, tool: RealTool) -> Iterator[Judges]:
    """The judges with a server that knows the kinds of all estates."""
    kinds = {
        (one["apiVersion"], one["kind"])
        for estate in ESTATES
        for one in objects_of(repository(estate))
    }
    with api_server(place, tool) as server:
        known = [definitions()[kind] for kind in sorted(kinds) if kind in definitions()]
        items = installed(known)
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        names = [f"crd/{one['metadata']['name']}" for one in items]
        for command in (
            ("create", "-f", "-"),
            ("wait", "--for=condition=Established", "--timeout=60s", *names),
        ):
            answer = server.ask(*command, text=text if command[0] == "create" else "")
            assert answer.returncode == 0, answer.stderr
        yield Judges(tool, server, write_schemas(place / "schemas", server, kinds))


def listed(objects: list[Object], place: Path) -> Path:
    """Objects as one file."""
    file = place / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return file


def objects_of(found: RenderedRepository) -> list[Object]:
    """The objects of the files, as they stand there."""
    return [
        one
        for file in found.tree
        if file.path.startswith(("kubernetes/", "bootstrap/")) and file.path.endswith(".yaml")
        for one in _objects(_plain(file.text))
        if not one["apiVersion"].startswith(KUSTOMIZE)
    ]


def substituted(text: str, domain: str) -> str:
    """The variables that Flux fills in: the domain, whole or with its first dot replaced."""

    def value(match: re.Match[str]) -> str:
        old = match["old"]
        return domain.replace(old, match["new"], 1) if old else domain

    return _VARIABLE.sub(value, text)


def _domain(place: Path) -> str:
    """The domain as the cluster gets it."""
    (secret,) = _objects((place / SHARED).read_text())
    secret_domain: str = secret["stringData"]["SECRET_DOMAIN"]
    return secret_domain


def _objects(text: str) -> list[Object]:
    found = yaml.load_all(text, Loader=_LOADER)
    return [one for one in found if isinstance(one, dict) and "apiVersion" in one]


def _bootstrap(place: Path) -> list[Object]:
    files = sorted((place / "bootstrap").glob("*.sops.yaml"))
    return [one for file in files for one in _objects(file.read_text())]


def _kustomizations(place: Path) -> list[Path]:
    """Directories that kustomize builds; a component is built with those that name it."""
    files = sorted((place / "kubernetes").rglob("kustomization.yaml"))
    return [file.parent for file in files if "kind: Component" not in file.read_text()]


def _write(found: RenderedRepository, place: Path) -> None:
    """The repository with its secrets in the clear: they are those of a test."""
    for file in found.tree:
        path = place / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_plain(file.text))


def _plain(text: str | Secret) -> str:
    return text.reveal() if isinstance(text, Secret) else text
