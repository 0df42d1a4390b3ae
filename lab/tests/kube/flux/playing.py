"""A cluster with the controllers of Flux at work, and a real repository for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stockman_lab.core.dice import Dice
from stockman_lab.kube.controllers.manager import Controllers
from stockman_lab.kube.controllers.registry import CONTROLLERS
from stockman_lab.kube.flux.registry import flux_controllers

from lab.tests.kube.asking import served
from lab.tests.kube.controllers.playing import Played
from tests.contract.repo.doors import git

URL = "https://git.test/flock/home.git"
SOURCE, KUSTOMIZE = "source.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io"
SYSTEM = "flux-system"
GITS = f"/apis/{SOURCE}/v1/namespaces/{SYSTEM}/gitrepositories"
APPS = f"/apis/{KUSTOMIZE}/v1/namespaces/{SYSTEM}/kustomizations"
_KINDS = {
    SOURCE: ("GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket"),
    KUSTOMIZE: ("Kustomization",),
    "example.org": ("Widget",),
}
_WHO = ("-c", "user.name=Shepherd", "-c", "user.email=shepherd@example.org")


def plural_of(kind: str) -> str:
    return f"{kind.lower().removesuffix('y')}{'ies' if kind.endswith('y') else 's'}"


def definition(group: str, kind: str) -> dict[str, Any]:
    """A definition that takes whatever it is given."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}
    return {
        "metadata": {"name": f"{plural_of(kind)}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural_of(kind), "kind": kind},
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }


@dataclass
class Fluxed(Played):
    """A cluster with Flux."""

    root: Path = field(default_factory=Path)
    repositories: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Start all controllers."""
        self.controllers = Controllers(
            self.server.api,
            self.state,
            self.timeline,
            Dice(3),
            kinds=(*CONTROLLERS, *flux_controllers(lambda: self.repositories)),
        )
        self.controllers.notice()

    # -- the repository ---------------------------------------------------------------------------

    def commit(self, files: dict[str, str | None], message: str = "Change") -> str:
        """Files on the main branch; None: it goes. Returns the revision that Flux names."""
        work = self.root / "work"
        for path, text in files.items():
            file = work / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                file.unlink()
            else:
                file.write_text(text)
        git(work, "add", "--all")
        git(work, *_WHO, "commit", "--quiet", "--allow-empty", "--message", message)
        git(work, "push", "--quiet", "origin", "HEAD:refs/heads/main")
        return f"main@sha1:{git(work, 'rev-parse', 'HEAD').strip()}"

    def tag(self, name: str) -> None:
        work = self.root / "work"
        git(work, *_WHO, "tag", "--annotate", "--message", name, name)
        git(work, "push", "--quiet", "origin", name)

    # -- objects ----------------------------------------------------------------------------------

    def run_pods(self) -> None:
        """Pods of the controllers of Flux, ready."""
        for name in ("source-controller", "kustomize-controller"):
            self.run_pod(name)
        self.run()

    def run_pod(self, name: str, *arguments: str) -> None:
        image = f"example.org/fluxcd/{name}:v1.8.0"
        spec = {"containers": [{"name": "manager", "image": image, "args": list(arguments)}]}
        path = f"/api/v1/namespaces/{SYSTEM}/pods"
        self.server.ask("POST", path, {"metadata": {"name": name}, "spec": spec})
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        merge = "application/merge-patch+json"
        self.server.ask("PATCH", f"{path}/{name}/status", {"status": status}, merge)

    def source(self, name: str = "home", **spec: Any) -> Any:
        """A GitRepository, and what it says some seconds later."""
        body = {
            "metadata": {"name": name},
            "spec": {"interval": "1h", "url": URL, "ref": {"branch": "main"}, **spec},
        }
        self.ask("POST", GITS, body)
        return self.get(f"{GITS}/{name}")

    def app(self, name: str = "app", **spec: Any) -> Any:
        """A Kustomization, and what it says some seconds later."""
        reference = {"kind": "GitRepository", "name": "home"}
        whole = {"interval": "1h", "path": "./", "prune": True, "sourceRef": reference, **spec}
        self.ask("POST", APPS, {"metadata": {"name": name}, "spec": whole})
        return self.get(f"{APPS}/{name}")

    def shown(self, name: str = "app") -> Any:
        return self.get(f"{APPS}/{name}")

    def request(self, path: str, word: str) -> Any:
        """Have something looked at again, as `flux reconcile` does."""
        self.patch(path, {"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": word}}})
        return self.get(path)

    def told(self) -> list[tuple[str, str]]:
        """Reasons and messages of events in the namespace of Flux."""
        result = self.items(f"/api/v1/namespaces/{SYSTEM}/events")
        return [(item["reason"], item["message"]) for item in result]


def condition(one: Any, kind: str = "Ready") -> tuple[str, str, str]:
    """Status, reason and message of a condition."""
    for result in one["status"]["conditions"]:
        if result["type"] == kind:
            return result["status"], result["reason"], result["message"]
    return "", "", ""


def fluxed(root: Path, *, pods: bool = True) -> Fluxed:
    """A cluster with Flux and an empty repository."""
    git(root, "init", "--quiet", "--bare", "--initial-branch=main", "bare.git")
    git(root, "init", "--quiet", "--initial-branch=main", "work")
    git(root / "work", "remote", "add", "origin", str(root / "bare.git"))
    result = Fluxed(served(), root=root, repositories={URL: str(root / "bare.git")})
    result.ask("POST", "/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
    for group, kinds in _KINDS.items():
        for kind in kinds:
            path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
            result.server.ask("POST", path, definition(group, kind))
    if pods:
        result.run_pods()
    return result
