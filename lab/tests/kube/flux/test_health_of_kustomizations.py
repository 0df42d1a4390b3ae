"""Kustomizations wait until what they applied is as it should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.tests.kube.flux.playing import APPS, GITS, SYSTEM, Fluxed, condition, fluxed

_DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shed, namespace: default}
spec:
  selector: {matchLabels: {app: shed}}
  template:
    metadata: {labels: {app: shed}}
    spec: {containers: [{name: one, image: wool}]}
"""
_WIDGET = "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: w, namespace: default}\n"
_WIDGETS = "/apis/example.org/v1/namespaces/default/widgets"


@pytest.fixture
def cluster(tmp_path: Path) -> Fluxed:
    result = fluxed(tmp_path)
    result.commit({"d.yaml": _DEPLOYMENT})
    result.source()
    return result


def test_it_is_ready_when_its_pods_are(cluster: Fluxed) -> None:
    app = cluster.app(wait=True, timeout="5m")
    revision = app["status"]["lastAttemptedRevision"]
    running = f"Running health checks for revision {revision} with a timeout of 5m0s"
    assert condition(app) == ("Unknown", "Progressing", "Reconciliation in progress")
    assert condition(app, "Healthy") == ("Unknown", "Progressing", running)
    assert condition(app, "Reconciling") == ("True", "Progressing", running)
    cluster.make_ready()
    app = cluster.shown()
    assert condition(app)[1] == "ReconciliationSucceeded"
    assert condition(app, "Healthy")[:2] == ("True", "Succeeded")
    assert any(message.startswith("Health check passed in ") for _, message in cluster.told())


def test_it_fails_when_time_is_over(cluster: Fluxed) -> None:
    cluster.app(wait=True, timeout="1m", retryInterval="10m")
    cluster.run(70)
    result = cluster.shown()
    why = "timeout waiting for: [Deployment/default/shed status: 'InProgress']"
    assert condition(result)[:2] == ("False", "HealthCheckFailed")
    assert condition(result)[2].startswith("health check failed after 1m0.")
    assert condition(result)[2].endswith(f"s: {why}")
    assert condition(result, "Healthy") == ("False", "HealthCheckFailed", why)
    assert condition(result, "Reconciling")[1] == "ProgressingWithRetry"
    cluster.make_ready()
    cluster.run(620)
    assert condition(cluster.shown())[0] == "True"


def test_it_fails_early_when_something_is_stalled(cluster: Fluxed) -> None:
    cluster.commit({"d.yaml": None, "w.yaml": _WIDGET})
    cluster.request(f"{GITS}/home", "1")
    cluster.app(wait=True)
    assert condition(cluster.shown())[0] == "True"
    stalled = [{"type": "Stalled", "status": "True"}]
    cluster.patch(f"{_WIDGETS}/w/status", {"status": {"conditions": stalled}})
    cluster.request(f"{APPS}/app", "again")
    assert (
        "failed early due to stalled resources: [Widget/default/w status: 'Failed']"
        in (condition(cluster.shown())[2])
    )


def test_only_what_is_named_is_waited_for(cluster: Fluxed) -> None:
    check = {"apiVersion": "example.org/v1", "kind": "Widget", "name": "v", "namespace": "default"}
    cluster.app(healthChecks=[check], timeout="10m")
    assert condition(cluster.shown())[0] == "Unknown"
    cluster.ask("POST", _WIDGETS, {"metadata": {"name": "v"}})
    assert condition(cluster.shown())[0] == "True"


def test_a_newer_revision_waits_until_the_check_is_over(cluster: Fluxed) -> None:
    cluster.app(wait=True, timeout="2m", retryInterval="10s")
    second = cluster.commit({"d.yaml": _DEPLOYMENT.replace("wool", "felt")})
    cluster.request(f"{GITS}/home", "1")
    assert cluster.shown()["status"]["lastAttemptedRevision"] != second
    cluster.run(140)
    assert cluster.shown()["status"]["lastAttemptedRevision"] == second


def test_a_newer_revision_ends_the_check_where_that_is_switched_on(cluster: Fluxed) -> None:
    cluster.ask("DELETE", f"/api/v1/namespaces/{SYSTEM}/pods/kustomize-controller")
    cluster.server.ask(
        "DELETE",
        f"/api/v1/namespaces/{SYSTEM}/pods/kustomize-controller?gracePeriodSeconds=0",
    )
    cluster.run_pod("kustomize-controller", "--feature-gates=CancelHealthCheckOnNewRevision=true")
    cluster.app(wait=True, timeout="10m")
    second = cluster.commit({"d.yaml": _DEPLOYMENT.replace("wool", "felt")})
    cluster.request(f"{GITS}/home", "1")
    assert cluster.shown()["status"]["lastAttemptedRevision"] == second


def test_a_saved_world_goes_on_waiting(cluster: Fluxed) -> None:
    cluster.app(wait=True, timeout="5m")
    cluster.controllers.retire()
    cluster.begin()
    cluster.make_ready()
    assert condition(cluster.shown())[0] == "True"
