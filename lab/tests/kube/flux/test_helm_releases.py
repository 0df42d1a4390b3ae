"""HelmReleases become releases of Helm, while the helm-controller runs."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect
from stockman_lab.kube.flux.registry import flux_controllers

from lab.tests.kube.flux.fluxed import ECHO, RELEASES, SOURCES, Fluxed
from lab.tests.kube.helm.installing import ECHO_OF

VERSION = "0.2.3+ecb05b62c355"
REQUESTED = "reconcile.fluxcd.io/requestedAt"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


@pytest.fixture
def flux() -> Fluxed:
    return Fluxed("n1")


def versions(flux: Fluxed) -> list[tuple[int, str]]:
    return [(release["version"], release["info"]["status"]) for release in flux.releases()]


def test_a_release_waits_for_its_source_and_is_installed_then(flux: Fluxed) -> None:
    flux.release()
    text = 'could not get Source object: ocirepositories.source.toolkit.fluxcd.io "echo" not found'
    assert flux.said() == ("False", "ArtifactFailed", text)
    flux.chart()
    text = f"Helm install succeeded for release default/echo.v1 with chart echo@{VERSION}"
    assert flux.said() == ("True", "InstallSucceeded", text)
    assert flux.said("Released") == ("True", "InstallSucceeded", text)
    assert flux.said("Reconciling") == ("", "", "")
    status = flux.found_release()["status"]
    assert status["observedGeneration"] == 1
    history = status["history"][0]
    told = {name: history[name] for name in ("name", "version", "status", "chartVersion", "action")}
    assert told == {
        "name": "echo",
        "version": 1,
        "status": "deployed",
        "chartVersion": VERSION,
        "action": "install",
    }
    assert text in flux.told()
    assert flux.named(DEPLOYMENTS) == ["echo"]


def test_a_release_that_is_there_already_is_taken_over_by_an_upgrade(flux: Fluxed) -> None:
    flux.job(*ECHO_OF, "--wait")
    before = flux.ask("GET", f"{DEPLOYMENTS}/echo")["metadata"]["uid"]
    flux.chart()
    flux.release()
    text = f"Helm upgrade succeeded for release default/echo.v2 with chart echo@{VERSION}"
    assert flux.said() == ("True", "UpgradeSucceeded", text)
    assert versions(flux) == [(1, "superseded"), (2, "deployed")]
    metadata = flux.ask("GET", f"{DEPLOYMENTS}/echo")["metadata"]
    assert metadata["uid"] == before
    assert metadata["labels"]["helm.toolkit.fluxcd.io/name"] == "echo"


def test_other_values_are_an_upgrade_and_the_same_ones_are_nothing(flux: Fluxed) -> None:
    flux.chart()
    flux.release()
    flux.patch_release({"spec": {"values": {"replicaCount": 2}}})
    assert flux.ask("GET", f"{DEPLOYMENTS}/echo")["spec"]["replicas"] == 2
    assert versions(flux) == [(1, "superseded"), (2, "deployed")]
    flux.patch_release({"metadata": {"annotations": {REQUESTED: "now"}}})
    assert flux.found_release()["status"]["lastHandledReconcileAt"] == "now"
    assert versions(flux) == [(1, "superseded"), (2, "deployed")]


def test_values_of_others_lie_under_those_of_the_release(flux: Fluxed) -> None:
    flux.chart()
    content = {"kind": "ConfigMap", "name": "more"}
    flux.release(values={"replicaCount": 3}, valuesFrom=[content])
    text = (
        "could not resolve ConfigMap chart values reference 'default/more' with key 'values.yaml'"
    )
    assert flux.said()[:2] == ("False", "ValuesError")
    assert flux.said()[2].startswith(text)
    data = {"values.yaml": "replicaCount: 1\nfullnameOverride: other\n"}
    body = {"metadata": {"name": "more"}, "data": data}
    flux.made("/api/v1/namespaces/default/configmaps", body)
    flux.patch_release({"metadata": {"annotations": {REQUESTED: "now"}}})
    assert flux.named(DEPLOYMENTS) == ["other"]
    assert flux.ask("GET", f"{DEPLOYMENTS}/other")["spec"]["replicas"] == 3


def test_a_release_waits_for_another_that_it_depends_on(flux: Fluxed) -> None:
    flux.chart()
    flux.release("second", dependsOn=[{"name": "echo"}])
    assert flux.said(name="second")[:2] == ("False", "DependencyNotReady")
    flux.release()
    assert flux.said(name="second")[:2] == ("True", "InstallSucceeded")


def test_a_suspended_release_is_left_alone(flux: Fluxed) -> None:
    flux.chart()
    flux.release()
    flux.patch_release({"spec": {"suspend": True, "values": {"replicaCount": 2}}})
    assert flux.ask("GET", f"{DEPLOYMENTS}/echo")["spec"]["replicas"] == 1
    flux.patch_release({"spec": {"suspend": False}})
    assert flux.ask("GET", f"{DEPLOYMENTS}/echo")["spec"]["replicas"] == 2


def test_a_deleted_release_is_uninstalled(flux: Fluxed) -> None:
    flux.chart()
    flux.release()
    flux.ask("DELETE", f"{RELEASES}/echo")
    flux.settle()
    assert flux.found_release()["kind"] == "Status"
    assert flux.named(DEPLOYMENTS) == []
    assert flux.releases() == []


def test_a_chart_that_nobody_knows_is_not_loaded(flux: Fluxed) -> None:
    flux.chart("7.0.0")
    flux.release()
    assert flux.said()[:2] == ("False", "ArtifactFailed")


def never_ready(flux: Fluxed) -> None:
    flux.hosts.by_name["n1"].faults["ready"] = Effect.HANG


def test_an_install_that_takes_too_long_fails_and_is_retried_as_asked(flux: Fluxed) -> None:
    flux.chart()
    never_ready(flux)
    strategy = {"strategy": {"name": "RetryOnFailure", "retryInterval": "1m"}}
    flux.release(timeout="2m", install=strategy, upgrade=strategy)
    text = f"Helm install failed for release default/echo with chart echo@{VERSION}: "
    flux.advance(150.0)
    why = f"{text}timeout waiting for: [Deployment/default/echo status: 'InProgress']"
    assert flux.said("Released") == ("False", "InstallFailed", why)
    assert why in flux.told()
    assert flux.said("Reconciling")[1:] == ("ProgressingWithRetry", "retrying after 1m0s")
    flux.hosts.by_name["n1"].faults.clear()
    flux.ask("DELETE", "/api/v1/namespaces/default/pods")
    flux.settle()
    flux.advance(300.0)
    assert flux.said()[:2] == ("True", "UpgradeSucceeded")
    assert flux.found_release()["status"].get("failures") is None


def test_without_retries_a_failed_install_stalls(flux: Fluxed) -> None:
    flux.chart()
    never_ready(flux)
    flux.release(timeout="1m")
    flux.advance(200.0)
    text = "Failed to install after 1 attempt(s)"
    assert flux.said("Stalled") == ("True", "RetriesExceeded", text)
    assert flux.said()[:2] == ("False", "InstallFailed")
    assert versions(flux) == [(1, "failed")]


def test_a_failed_upgrade_is_rolled_back(flux: Fluxed) -> None:
    flux.chart()
    remedy = {"remediation": {"retries": 1, "remediateLastFailure": True}}
    flux.release(timeout="1m", upgrade=remedy)
    never_ready(flux)
    flux.patch_release({"spec": {"values": {"podLabels": {"colour": "white"}}}})
    flux.advance(400.0)
    assert flux.said("Remediated")[:2] == ("True", "RollbackSucceeded")
    assert flux.said("Stalled")[2] == "Failed to upgrade after 2 attempt(s)"
    labels = flux.ask("GET", f"{DEPLOYMENTS}/echo")["spec"]["template"]["metadata"]["labels"]
    assert "colour" not in labels


def test_nothing_happens_while_the_controller_does_not_run(flux: Fluxed) -> None:
    key = "/apis/apps/v1/namespaces/flux-system/deployments/helm-controller"
    flux.ask("PATCH", key, {"spec": {"replicas": 0}})
    flux.settle()
    flux.chart()
    flux.release()
    assert flux.said() == ("", "", "")
    flux.ask("PATCH", key, {"spec": {"replicas": 1}})
    flux.settle()
    assert flux.said()[:2] == ("True", "InstallSucceeded")


def test_an_account_that_may_not_install_fails(flux: Fluxed) -> None:
    flux.made("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "weak"}})
    flux.chart()
    flux.release(serviceAccountName="weak")
    assert flux.said()[:2] == ("False", "StateError")
    assert 'User "system:serviceaccount:default:weak" cannot list resource' in flux.said()[2]


def test_sources_of_flux_feed_releases() -> None:
    flux = Fluxed("n1", flux=flux_controllers(dict))
    spec = {"interval": "15m", "url": ECHO, "ref": {"tag": "0.2.3"}}
    body = flux.custom("source.toolkit", "OCIRepository", "echo", spec)
    flux.made(f"{SOURCES}/ocirepositories", body)
    flux.release()
    assert flux.said()[:2] == ("True", "InstallSucceeded")
