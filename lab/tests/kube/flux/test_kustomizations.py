"""Kustomizations apply what a repository holds, and take it away again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.tests.kube.controllers.playing import CORE
from lab.tests.kube.flux.playing import (
    APPS,
    GITS,
    KUSTOMIZE,
    SYSTEM,
    Fluxed,
    condition,
    definition,
    fluxed,
)

MAPS = f"{CORE}/configmaps"
_OWNER = {f"{KUSTOMIZE}/name": "app", f"{KUSTOMIZE}/namespace": SYSTEM}


def text(name: str, kind: str = "ConfigMap", more: str = "", metadata: str = "") -> str:
    return (
        f"apiVersion: v1\nkind: {kind}\n"
        f"metadata: {{name: {name}, namespace: default{metadata}}}\n{more}"
    )


@pytest.fixture
def cluster(tmp_path: Path) -> Fluxed:
    result = fluxed(tmp_path)
    result.commit({"a.yaml": text("a", more="data: {x: y1}\n"), "b.yaml": text("b")})
    result.source()
    return result


def changed(cluster: Fluxed, files: dict[str, str | None]) -> str:
    """A commit that Flux has found."""
    revision = cluster.commit(files)
    cluster.request(f"{GITS}/home", revision)
    return revision


def test_objects_of_the_repository_are_applied(cluster: Fluxed) -> None:
    revision = cluster.get(f"{GITS}/home")["status"]["artifact"]["revision"]
    app = cluster.app()
    content = cluster.get(f"{MAPS}/a")
    assert content["data"] == {"x": "y1"}
    assert content["metadata"]["labels"] == _OWNER
    assert content["metadata"]["managedFields"][0]["manager"] == "kustomize-controller"
    assert content["metadata"]["managedFields"][0]["operation"] == "Apply"
    status = app["status"]
    assert condition(app) == ("True", "ReconciliationSucceeded", f"Applied revision: {revision}")
    assert status["lastAppliedRevision"] == status["lastAttemptedRevision"] == revision
    assert status["inventory"]["entries"] == [
        {"id": "default_a__ConfigMap", "v": "v1"},
        {"id": "default_b__ConfigMap", "v": "v1"},
    ]
    assert status["observedGeneration"] == app["metadata"]["generation"]
    assert app["metadata"]["finalizers"] == ["finalizers.fluxcd.io"]
    told = cluster.told()
    changes = "ConfigMap/default/a created\nConfigMap/default/b created"
    assert ("Progressing", changes) in told
    assert any(message.endswith("next run in 1h0m0s") for _, message in told)


def test_nothing_is_applied_without_a_pod_of_the_controller(tmp_path: Path) -> None:
    cluster = fluxed(tmp_path, pods=False)
    cluster.commit({"a.yaml": text("a")})
    cluster.run_pod("source-controller")
    cluster.source()
    assert "status" not in cluster.app()
    cluster.run_pod("kustomize-controller")
    cluster.run()
    assert condition(cluster.shown())[0] == "True"


def test_a_new_revision_is_applied_and_what_went_is_pruned(cluster: Fluxed) -> None:
    cluster.app()
    revision = changed(cluster, {"a.yaml": text("a", more="data: {x: y2}\n"), "b.yaml": None})
    assert cluster.get(f"{MAPS}/a")["data"] == {"x": "y2"}
    assert cluster.names(MAPS) == ["a"]
    assert cluster.shown()["status"]["lastAppliedRevision"] == revision
    assert ("Progressing", "ConfigMap/default/a configured") in cluster.told()
    assert ("Progressing", "ConfigMap/default/b deleted") in cluster.told()


def test_nothing_is_pruned_where_nobody_wants_that(cluster: Fluxed) -> None:
    cluster.app(prune=False)
    changed(cluster, {"b.yaml": None})
    assert "b" in cluster.names(MAPS)


def test_an_object_that_says_so_is_not_pruned(cluster: Fluxed) -> None:
    keep = f", annotations: {{{KUSTOMIZE}/prune: disabled}}"
    changed(cluster, {"b.yaml": text("b", metadata=keep)})
    cluster.app()
    changed(cluster, {"b.yaml": None})
    assert "b" in cluster.names(MAPS)


def test_what_others_changed_is_put_right_after_the_interval(cluster: Fluxed) -> None:
    cluster.app(interval="10m")
    cluster.patch(f"{MAPS}/a", {"data": {"x": "other"}})
    cluster.run(300)
    assert cluster.get(f"{MAPS}/a")["data"] == {"x": "other"}
    cluster.run(310)
    assert cluster.get(f"{MAPS}/a")["data"] == {"x": "y1"}


def test_what_others_changed_stays_where_the_object_is_switched_off(cluster: Fluxed) -> None:
    cluster.app()
    off = {f"{KUSTOMIZE}/reconcile": "disabled"}
    cluster.patch(f"{MAPS}/a", {"data": {"x": "other"}, "metadata": {"annotations": off}})
    cluster.request(f"{APPS}/app", "now")
    assert cluster.get(f"{MAPS}/a")["data"] == {"x": "other"}


def edited(cluster: Fluxed, data: dict[str, str]) -> None:
    """As `kubectl edit` writes it."""
    cluster.server.agent = "kubectl-edit/v1.36.3"
    cluster.patch(f"{MAPS}/a", {"data": data})
    cluster.server.agent = "shepherd/1.0"


def test_an_object_that_is_made_only_once_keeps_its_changes(cluster: Fluxed) -> None:
    once = f", annotations: {{{KUSTOMIZE}/ssa: IfNotPresent}}"
    changed(cluster, {"a.yaml": text("a", metadata=once, more="data: {x: y1}\n")})
    cluster.app()
    cluster.patch(f"{MAPS}/a", {"data": {"x": "other"}})
    cluster.request(f"{APPS}/app", "now")
    assert cluster.get(f"{MAPS}/a")["data"] == {"x": "other"}


def test_a_request_is_answered(cluster: Fluxed) -> None:
    cluster.app()
    cluster.ask("DELETE", f"{MAPS}/a")
    request = cluster.request(f"{APPS}/app", "2026-09-21T10:00:00Z")
    assert "a" in cluster.names(MAPS)
    assert request["status"]["lastHandledReconcileAt"] == "2026-09-21T10:00:00Z"


def test_a_suspended_one_is_left_alone_until_it_is_resumed(cluster: Fluxed) -> None:
    cluster.app(suspend=True)
    assert "a" not in cluster.names(MAPS)
    cluster.patch(f"{APPS}/app", {"spec": {"suspend": False}})
    assert "a" in cluster.names(MAPS)


def test_a_missing_source_is_told_until_it_is_there(tmp_path: Path) -> None:
    cluster = fluxed(tmp_path)
    cluster.commit({"a.yaml": text("a")})
    why = 'gitrepositories.source.toolkit.fluxcd.io "home" not found'
    assert condition(cluster.app()) == ("False", "ArtifactFailed", why)
    cluster.source()
    assert condition(cluster.shown())[0] == "True"


def test_a_source_without_an_artifact_is_waited_for(tmp_path: Path) -> None:
    cluster = fluxed(tmp_path)
    cluster.source()
    why = "Source artifact not found, retrying in 30s"
    assert condition(cluster.app()) == ("False", "ArtifactFailed", why)


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        ({"path": "./nowhere"}, "ArtifactFailed", "kustomization path not found: stat /tmp/"),
        ({"components": ["./none"]}, "BuildFailed", "spec.components is not simulated"),
        ({"serviceAccountName": "me"}, "BuildFailed", "spec.serviceAccountName is not simulated"),
        (
            {"postBuild": {"substituteFrom": [{"kind": "Secret", "name": "s"}]}},
            "BuildFailed",
            "substitute from 'Secret/s' error: secrets \"s\" not found",
        ),
        (
            {"decryption": {"provider": "sops", "secretRef": {"name": "keys"}}},
            "BuildFailed",
            'secrets "keys" not found',
        ),
    ],
)
def test_what_cannot_be_built_is_told(
    spec: dict[str, Any], reason: str, words: str, cluster: Fluxed
) -> None:
    app = cluster.app(**spec)
    assert condition(app)[:2] == ("False", reason)
    assert words in condition(app)[2]
    assert condition(app, "Reconciling")[:2] == ("True", "ProgressingWithRetry")
    assert "observedGeneration" not in app["status"]
    assert "a" not in cluster.names(MAPS)


def test_nothing_is_applied_when_one_object_is_refused(cluster: Fluxed) -> None:
    changed(cluster, {"c.yaml": text("c_c")})
    app = cluster.app()
    assert condition(app)[:2] == ("False", "ReconciliationFailed")
    assert condition(app)[2].startswith("ConfigMap/default/c_c dry-run failed (Invalid): ")
    assert "a" not in cluster.names(MAPS)


def test_an_unknown_kind_and_a_missing_namespace_are_told(cluster: Fluxed) -> None:
    odd = "apiVersion: example.net/v1\nkind: Odd\nmetadata: {name: x, namespace: default}\n"
    changed(cluster, {"c.yaml": odd})
    app = cluster.app()
    why = 'Odd/default/x dry-run failed: no matches for kind "Odd" in version "example.net/v1"'
    assert condition(app)[2].strip() == why
    changed(cluster, {"c.yaml": text("c").replace("default", "nowhere")})
    assert condition(cluster.shown())[2].strip() == (
        'ConfigMap/nowhere/c not found: namespaces "nowhere" not found'
    )


def test_it_is_tried_again_after_the_retry_interval(cluster: Fluxed) -> None:
    reference = {"kind": "ConfigMap", "name": "words"}
    cluster.app(retryInterval="2m", postBuild={"substituteFrom": [reference]})
    body = {"metadata": {"name": "words"}, "data": {"X": "1"}}
    cluster.ask("POST", f"/api/v1/namespaces/{SYSTEM}/configmaps", body)
    cluster.run(60)
    assert condition(cluster.shown())[0] == "False"
    cluster.run(70)
    assert condition(cluster.shown())[0] == "True"


def test_namespaces_and_definitions_are_there_before_their_objects(cluster: Fluxed) -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        **definition("example.com", "Gate"),
    }
    gate = "apiVersion: example.com/v1\nkind: Gate\nmetadata: {name: g, namespace: hill}\n"
    changed(
        cluster,
        {
            "1.yaml": gate,
            "2.yaml": yaml.safe_dump(crd),
            "3.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: hill}\n",
        },
    )
    assert condition(cluster.app())[0] == "True"
    assert cluster.names("/apis/example.com/v1/namespaces/hill/gates") == ["g"]


def test_variables_are_filled_in_from_maps_secrets_and_the_spec(cluster: Fluxed) -> None:
    changed(cluster, {"a.yaml": text("a", more="data: {x: '${A}-${B}-${C}-${D:=d}'}\n")})
    key = f"/api/v1/namespaces/{SYSTEM}"
    body: dict[str, Any] = {"metadata": {"name": "words"}, "data": {"A": "1", "B": "1", "C": "1"}}
    cluster.ask("POST", f"{key}/configmaps", body)
    secret = {"metadata": {"name": "secrets"}, "stringData": {"B": "2\n", "C": "2"}}
    cluster.ask("POST", f"{key}/secrets", secret)
    sources = [
        {"kind": "ConfigMap", "name": "words"},
        {"kind": "Secret", "name": "secrets"},
        {"kind": "Secret", "name": "none", "optional": True},
    ]
    cluster.app(postBuild={"substituteFrom": sources, "substitute": {"C": "3"}})
    assert cluster.get(f"{MAPS}/a")["data"] == {"x": "1-2-3-d"}


def test_dependencies_come_first(cluster: Fluxed) -> None:
    changed(cluster, {"one/x.yaml": text("x"), "two/y.yaml": text("y")})
    app = cluster.app("two", path="./two", dependsOn=[{"name": "one"}])
    why = f"dependency '{SYSTEM}/one' not found: kustomizations.{KUSTOMIZE} \"one\" not found"
    assert condition(app) == ("False", "DependencyNotReady", why)
    cluster.app("one", path="./nowhere")
    app = cluster.shown("two")
    why = f"dependency '{SYSTEM}/one' is not ready"
    assert condition(app) == ("False", "DependencyNotReady", why)
    cluster.patch(f"{APPS}/one", {"spec": {"path": "./one"}})
    assert condition(cluster.shown("two"))[0] == "True"
    text_ = "Dependencies do not meet ready condition, retrying in 30s"
    assert ("DependencyNotReady", text_) in cluster.told()


def test_a_dependency_has_to_have_the_same_revision(cluster: Fluxed) -> None:
    changed(cluster, {"one/x.yaml": text("x"), "two/y.yaml": text("y")})
    cluster.app("one", path="./one")
    cluster.app("two", path="./two", dependsOn=[{"name": "one"}])
    cluster.patch(f"{APPS}/one/status", {"status": {"lastAppliedRevision": "main@sha1:0"}})
    request = cluster.request(f"{APPS}/two", "1")
    why = f"dependency '{SYSTEM}/one' revision is not up to date"
    assert condition(request)[2] == why
    cluster.request(f"{APPS}/one", "1")
    assert condition(cluster.shown("two"))[0] == "True"


def test_a_suspended_dependency_is_not_ready(cluster: Fluxed) -> None:
    changed(cluster, {"one/x.yaml": text("x"), "two/y.yaml": text("y")})
    cluster.app("one", path="./one")
    cluster.patch(f"{APPS}/one", {"spec": {"suspend": True}})
    app = cluster.app("two", path="./two", dependsOn=[{"name": "one"}])
    assert condition(app)[2] == f"dependency '{SYSTEM}/one' is not ready"


def test_deleting_one_takes_its_objects_along(cluster: Fluxed) -> None:
    cluster.app()
    cluster.ask("DELETE", f"{APPS}/app")
    assert cluster.names(APPS) == []
    assert cluster.names(MAPS) == []


@pytest.mark.parametrize(
    "spec", [{"deletionPolicy": "Orphan"}, {"prune": False}, {"suspend": True}]
)
def test_deleting_one_may_leave_its_objects(spec: dict[str, Any], cluster: Fluxed) -> None:
    cluster.app()
    cluster.patch(f"{APPS}/app", {"spec": spec})
    cluster.ask("DELETE", f"{APPS}/app")
    assert cluster.names(APPS) == []
    assert "a" in cluster.names(MAPS)


def test_one_that_waits_for_the_end_stays_until_all_is_gone(cluster: Fluxed) -> None:
    cluster.app(deletionPolicy="WaitForTermination", timeout="5m")
    cluster.patch(f"{MAPS}/a", {"metadata": {"finalizers": ["example.org/stay"]}})
    cluster.ask("DELETE", f"{APPS}/app")
    assert cluster.names(APPS) == ["app"]
    cluster.patch(f"{MAPS}/a", {"metadata": {"finalizers": None}})
    assert cluster.names(APPS) == []


def test_one_that_waits_for_the_end_gives_up(cluster: Fluxed) -> None:
    cluster.app(deletionPolicy="WaitForTermination", timeout="1m")
    cluster.patch(f"{MAPS}/a", {"metadata": {"finalizers": ["example.org/stay"]}})
    cluster.ask("DELETE", f"{APPS}/app")
    cluster.run(70)
    assert cluster.names(APPS) == []


def test_what_cannot_be_changed_is_made_anew_only_by_force(cluster: Fluxed) -> None:
    fixed = "immutable: true\ndata: {x: y1}\n"
    changed(cluster, {"a.yaml": text("a", more=fixed)})
    cluster.app()
    uid = cluster.get(f"{MAPS}/a")["metadata"]["uid"]
    changed(cluster, {"a.yaml": text("a", more=fixed.replace("y1", "y2"))})
    assert "dry-run failed (Invalid)" in condition(cluster.shown())[2]
    cluster.patch(f"{APPS}/app", {"spec": {"force": True}})
    content = cluster.get(f"{MAPS}/a")
    assert content["data"] == {"x": "y2"}
    assert content["metadata"]["uid"] != uid
