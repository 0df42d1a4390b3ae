"""The real `flux` program works on clusters of the lab."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess, run

import pytest
import yaml

from tests.real.flux.followed import URL, follow, repository
from tests.real.kube_served import Kubectl, kubectl_on_lab
from tools.pytest_plugin import RealTool


@dataclass(frozen=True)
class Flux:
    """The program, on a cluster that follows a repository."""

    kubectl: Kubectl
    program: Path

    def ask(self, *arguments: str) -> CompletedProcess[str]:
        return run(
            [self.program, "--kubeconfig", self.kubectl.config, "--timeout", "20s", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def told(self, *arguments: str) -> str:
        """What it prints where it ends well; how far it is stands among it."""
        found = self.ask(*arguments)
        assert found.returncode == 0, found.stderr
        return found.stdout + found.stderr


@pytest.fixture(scope="module")
def flux(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[Flux]:
    scratch = tmp_path_factory.mktemp("lab")
    program = real_tool("kubectl")
    with kubectl_on_lab(scratch, program, "127.101.0.0/16", flux=True) as kubectl:
        follow(kubectl, repository(scratch))
        yield Flux(kubectl, real_tool("flux"))


def _rows(printed: str) -> list[list[str]]:
    return [[one.strip() for one in line.split("\t")] for line in printed.splitlines()]


KINDS = ("source git home", "source oci coredns", "kustomization apps", "helmrelease coredns")


def test_everything_is_shown(flux: Flux) -> None:
    rows = _rows(flux.told("get", "all"))

    shown = {row[0]: row[1:4] for row in rows if "/" in row[0]}
    assert set(shown) >= {
        *("gitrepository/home", "ocirepository/coredns"),
        *("kustomization/apps", "helmrelease/coredns"),
    }
    assert all(one[1:] == ["False", "True"] for one in shown.values())
    assert shown["gitrepository/home"][0] == shown["kustomization/apps"][0] != ""


def test_reconciliations_are_asked_for_and_waited_for(flux: Flux) -> None:
    together = _together(flux, "reconcile")

    assert [one.split()[:2] for one in together.values()] == DONE


DONE = [["fetched", "revision"]] * 2 + [["applied", "revision"]] * 2


def _together(flux: Flux, verb: str) -> dict[str, str]:
    """What is said last when all are told to do something at once."""

    def last(what: str) -> str:
        return flux.told(verb, *what.split()).splitlines()[-1].removeprefix("✔ ")

    with ThreadPoolExecutor() as pool:
        return dict(zip(KINDS, pool.map(last, KINDS), strict=True))


def test_a_source_is_reconciled_first(flux: Flux) -> None:
    found = flux.told("reconcile", "kustomization", "apps", "--with-source").splitlines()

    done = [one.split()[1:] for one in found if " revision " in one]
    assert [one[0] for one in done] == ["fetched", "applied"]
    assert done[0][2] == done[1][2]


def test_what_is_suspended_is_resumed(flux: Flux) -> None:
    suspended = _together(flux, "suspend")
    refused = flux.ask("reconcile", "kustomization", "apps")
    held = [_is_suspended(flux, kind) for kind in KINDS]

    resumed = _together(flux, "resume")

    assert suspended["kustomization apps"] == "kustomization suspended"
    assert (refused.returncode, refused.stderr) == (1, "✗ resource is suspended\n")
    assert held == ["True"] * 4
    assert [one.split()[:2] for one in resumed.values()] == DONE
    assert [_is_suspended(flux, kind) for kind in KINDS] == ["False"] * 4


def _is_suspended(flux: Flux, what: str) -> str:
    *kind, name = what.split()
    return flux.told("get", *_plural(kind), name).split("\t")[-4].strip()


def _plural(kind: list[str]) -> list[str]:
    return ["sources", kind[1]] if kind[0] == "source" else [f"{kind[0]}s"]


def test_a_source_is_made_and_deleted(flux: Flux) -> None:
    where = (f"--url={URL}", "--branch=main", "--interval=1m")

    made = flux.told("create", "source", "git", "more", *where)
    gone = flux.told("delete", "source", "git", "more", "--silent")

    assert made.splitlines()[-1].startswith("✔ fetched revision: main@sha1:")
    assert gone.splitlines()[-1] == "✔ source git deleted"


def test_a_source_is_exported(flux: Flux) -> None:
    found = yaml.safe_load(flux.told("export", "source", "git", "home"))

    assert found["spec"]["url"] == URL
    assert "status" not in found


def test_the_cluster_is_fit_for_flux(flux: Flux) -> None:
    found = flux.told("check").splitlines()

    assert "✔ source-controller: deployment ready" in found
    assert found[-1] == "✔ all checks passed"


def test_objects_are_traced_to_their_source(flux: Flux) -> None:
    assert "ConfigMap/default/wool" in flux.told("tree", "kustomization", "apps")
    assert URL in flux.told("trace", "configmap", "wool", "-n", "default")
