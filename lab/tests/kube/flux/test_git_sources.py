"""GitRepositories find commits of a real repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.tests.kube.flux.playing import GITS, SYSTEM, Fluxed, condition, fluxed

_FAILED = "GitOperationFailed"


@pytest.fixture
def cluster(tmp_path: Path) -> Fluxed:
    return fluxed(tmp_path)


def test_the_newest_commit_of_a_branch_becomes_an_artifact(cluster: Fluxed) -> None:
    revision = cluster.commit({"a.yaml": "x: 1\n"}, "Begin")
    source = cluster.source()
    artifact = source["status"]["artifact"]
    hash_ = revision.partition(":")[2]
    assert artifact["revision"] == revision
    assert artifact["path"] == f"gitrepository/{SYSTEM}/home/{hash_}.tar.gz"
    assert artifact["url"] == (
        f"http://source-controller.{SYSTEM}.svc.cluster.local./{artifact['path']}"
    )
    assert artifact["digest"].startswith("sha256:")
    message = f"stored artifact for revision '{revision}'"
    assert condition(source) == ("True", "Succeeded", message)
    assert condition(source, "ArtifactInStorage") == ("True", "Succeeded", message)
    assert source["status"]["observedGeneration"] == source["metadata"]["generation"]
    assert ("NewArtifact", "stored artifact for commit 'Begin'") in cluster.told()


def test_nothing_happens_without_a_pod_of_the_controller(tmp_path: Path) -> None:
    cluster = fluxed(tmp_path, pods=False)
    cluster.commit({"a.yaml": "x: 1\n"})
    assert "status" not in cluster.source()
    cluster.run_pods()
    assert condition(cluster.get(f"{GITS}/home"))[0] == "True"


def test_a_new_commit_is_found_after_the_interval(cluster: Fluxed) -> None:
    first = cluster.commit({"a.yaml": "x: 1\n"})
    cluster.source(interval="5m")
    second = cluster.commit({"a.yaml": "x: 2\n"})
    cluster.run(200)
    assert cluster.get(f"{GITS}/home")["status"]["artifact"]["revision"] == first
    cluster.run(150)
    assert cluster.get(f"{GITS}/home")["status"]["artifact"]["revision"] == second


def test_a_new_commit_is_found_at_once_on_request(cluster: Fluxed) -> None:
    cluster.commit({"a.yaml": "x: 1\n"})
    cluster.source()
    second = cluster.commit({"a.yaml": "x: 2\n"})
    request = cluster.request(f"{GITS}/home", "now")
    assert request["status"]["artifact"]["revision"] == second
    assert request["status"]["lastHandledReconcileAt"] == "now"


def test_a_suspended_source_is_left_alone_until_it_is_resumed(cluster: Fluxed) -> None:
    first = cluster.commit({"a.yaml": "x: 1\n"})
    cluster.source()
    cluster.patch(f"{GITS}/home", {"spec": {"suspend": True}})
    second = cluster.commit({"a.yaml": "x: 2\n"})
    request = cluster.request(f"{GITS}/home", "now")
    assert request["status"]["artifact"]["revision"] == first
    cluster.patch(f"{GITS}/home", {"spec": {"suspend": False}})
    assert cluster.get(f"{GITS}/home")["status"]["artifact"]["revision"] == second


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ({"tag": "v1.2.0"}, "v1.2.0"),
        ({"name": "refs/heads/main"}, "refs/heads/main"),
    ],
)
def test_references_of_all_kinds_are_followed(
    ref: dict[str, str], name: str, cluster: Fluxed
) -> None:
    for number, tag in enumerate(("v1.2.0", "v1.10.0", "v2.0.0", "v1.11.0-rc.1")):
        cluster.commit({"a.yaml": f"x: {number}\n"})
        cluster.tag(tag)
    source = cluster.source(ref=ref)
    assert source["status"]["artifact"]["revision"].startswith(f"{name}@sha1:")


def test_a_commit_is_named_with_its_branch(cluster: Fluxed) -> None:
    revision = cluster.commit({"a.yaml": "x: 1\n"})
    cluster.commit({"a.yaml": "x: 2\n"})
    source = cluster.source(ref={"branch": "main", "commit": revision.partition(":")[2]})
    assert source["status"]["artifact"]["revision"] == revision


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        ({"url": "https://git.test/other.git"}, _FAILED, "repository not found"),
        ({"ref": {"branch": "dev"}}, _FAILED, 'couldn\'t find remote ref "refs/heads/dev"'),
        ({"ref": {"tag": "v9"}}, _FAILED, 'couldn\'t find remote ref "refs/tags/v9"'),
        ({"secretRef": {"name": "key"}}, "AuthenticationFailed", 'secrets "key" not found'),
    ],
)
def test_what_cannot_be_fetched_is_told_and_tried_again(
    spec: dict[str, Any], reason: str, words: str, cluster: Fluxed
) -> None:
    cluster.commit({"a.yaml": "x: 1\n"})
    source = cluster.source(**spec)
    assert condition(source)[:2] == ("False", reason)
    assert words in condition(source)[2]
    assert condition(source, "FetchFailed") == ("True", *condition(source)[1:])
    assert condition(source, "Reconciling")[:2] == ("True", "ProgressingWithRetry")
    assert "observedGeneration" not in source["status"]


def test_an_address_that_is_none_stalls(cluster: Fluxed) -> None:
    source = cluster.source(url="ftp://git.test/home.git")
    assert condition(source, "Stalled")[:2] == ("True", "URLInvalid")
    assert condition(source)[:2] == ("False", "URLInvalid")
    assert source["status"]["observedGeneration"] == source["metadata"]["generation"]


def test_a_source_recovers_when_its_branch_appears(cluster: Fluxed) -> None:
    source = cluster.source()
    assert condition(source)[1] == "EmptyGitRepository"
    revision = cluster.commit({"a.yaml": "x: 1\n"})
    cluster.run(60)
    source = cluster.get(f"{GITS}/home")
    assert source["status"]["artifact"]["revision"] == revision
    assert condition(source, "FetchFailed") == ("", "", "")


def test_a_deleted_source_goes(cluster: Fluxed) -> None:
    cluster.commit({"a.yaml": "x: 1\n"})
    assert cluster.source()["metadata"]["finalizers"] == ["finalizers.fluxcd.io"]
    cluster.ask("DELETE", f"{GITS}/home")
    assert cluster.names(GITS) == []


def test_repositories_of_some_projects_are_known(cluster: Fluxed) -> None:
    url = "https://github.com/kubernetes-sigs/gateway-api"
    source = cluster.source(url=url, ref={"tag": "v1.4.0"})
    assert source["status"]["artifact"]["revision"].startswith("v1.4.0@sha1:")
    source = cluster.source("other", url=url, ref={"tag": "none"})
    assert condition(source)[:2] == ("False", _FAILED)
