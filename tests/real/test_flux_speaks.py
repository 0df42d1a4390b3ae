"""The flux program works with sources and Kustomizations of a lab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import IPv4Network
from pathlib import Path
from subprocess import run

import pytest
from stockman_lab.testing.thread import LabThread, TalosPorts
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster

from tests.contract.repo.doors import git
from tests.real.rendered.definitions import definitions, installed
from tools.pytest_plugin import RealTool

_URL = "https://git.test/flock/home.git"
_GROUPS = ("source", "kustomize", "helm", "notification")
_WHO = ("-c", "user.name=Shepherd", "-c", "user.email=shepherd@example.org")
_EARLIER = 900.0


class Flock:
    """A served cluster with the pods of Flux, a repository, and the programs."""

    def __init__(self, root: Path, real_tool: RealTool) -> None:
        self._root = root
        self._programs = {name: real_tool(name) for name in ("kubectl", "flux")}
        git(root, "init", "--quiet", "--bare", "--initial-branch=main", "bare.git")
        git(root, "init", "--quiet", "--initial-branch=main", "work")
        self.commit("hay")

    @property
    def config(self) -> Path:
        return self._root / "kubeconfig"

    def commit(self, value: str) -> str:
        """Another content of a map on the main branch; returns the revision."""
        work = self._root / "work"
        (work / "apps").mkdir(exist_ok=True)
        (work / "apps" / "map.yaml").write_text(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: feed, namespace: default}\n"
            f"data: {{is: {value}}}\n"
        )
        git(work, "add", "--all")
        git(work, *_WHO, "commit", "--quiet", "--message", value)
        git(work, "push", "--quiet", str(self._root / "bare.git"), "HEAD:refs/heads/main")
        return f"main@sha1:{git(work, 'rev-parse', 'HEAD').strip()}"

    def told(self, program: str, *arguments: str, text: str = "") -> str:
        """What a program prints where it ends well."""
        command = [str(self._programs[program]), *arguments, "--kubeconfig", str(self.config)]
        done = run(command, input=text, capture_output=True, text=True, check=False, timeout=90)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def install(self) -> None:
        """Definitions and controllers of Flux."""
        kinds = [
            definition
            for definition in definitions().values()
            if definition.group in {f"{group}.toolkit.fluxcd.io" for group in _GROUPS}
        ]
        pods = [_deployment(name) for name in ("source-controller", "kustomize-controller")]
        text = "\n---\n".join(json.dumps(one) for one in (*installed(kinds), *pods))
        self.told("kubectl", "create", "namespace", "flux-system")
        self.told("kubectl", "apply", "--server-side", "-f", "-", text=text)
        ready = ("--for=condition=Available", "deployment", "--all", "--timeout=60s")
        self.told("kubectl", "--namespace", "flux-system", "wait", *ready)


def _deployment(name: str) -> dict[str, object]:
    labels = {"app": name}
    containers = [{"name": "manager", "image": f"example.org/fluxcd/{name}:v1.8.0"}]
    spec = {"tolerations": [{"operator": "Exists"}], "containers": containers}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "flux-system"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


@pytest.fixture
def flock(tmp_path: Path, real_tool: RealTool) -> Iterator[Flock]:
    made = Flock(tmp_path, real_tool)
    now = datetime.now(UTC)  # noqa: TID251  # the programs verify certificates by it
    wished = PresetOptions("single", IPv4Network("127.93.0.0/16"), now=now.timestamp() - _EARLIER)
    world = preset_world(wished)
    world.state.repositories[_URL] = str(tmp_path / "bare.git")
    network = wished.network
    staging = Staging(preset="single", network=network, talos_version="1.13.9", bootstrap=True)
    stage_cluster(world, staging)
    lab = LabThread(world, tmp_path, now, port=0, talos=TalosPorts())
    lab.start()
    try:
        made.config.write_text(lab.kubeconfig())
        made.install()
        yield made
    finally:
        lab.stop()


def test_flux_creates_reconciles_suspends_and_deletes(flock: Flock) -> None:
    where = ("--branch=main", "--interval=1h")
    told = flock.told("flux", "create", "source", "git", "home", f"--url={_URL}", *where)
    assert "GitRepository source reconciliation completed" in told
    what = ("--source=GitRepository/home", "--path=./apps", "--prune", "--wait", "--interval=1h")
    assert "Kustomization apps is ready" in flock.told(
        "flux", "create", "kustomization", "apps", *what
    )

    revision = flock.commit("straw")
    told = flock.told("flux", "reconcile", "kustomization", "apps", "--with-source")
    assert f"fetched revision {revision}" in told
    assert f"applied revision {revision}" in told
    assert flock.told("kubectl", "get", "configmap", "feed", "-o", "jsonpath={.data.is}") == "straw"

    every = flock.told("flux", "get", "all")
    short = revision[: len("main@sha1:") + 8]
    assert f"stored artifact for revision '{short}'" in every
    assert f"Applied revision: {short}" in every

    flock.told("flux", "suspend", "kustomization", "apps")
    row = flock.told("flux", "get", "kustomizations", "--no-header").split()
    assert row[:3] == ["apps", short, "True"]
    assert "reconciliation completed" in flock.told("flux", "resume", "kustomization", "apps")

    assert "ConfigMap/default/feed" in flock.told("flux", "tree", "kustomization", "apps")
    events = flock.told("flux", "events", "--for", "Kustomization/apps")
    assert "ConfigMap/default/feed configured" in events
    flock.told("flux", "delete", "kustomization", "apps", "--silent")
    gone = ("configmap/feed", "--timeout=60s")
    flock.told("kubectl", "wait", "--for=delete", *gone)
