"""Jobs that run `helm`: what they install, what they say, and how they fail."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect

from lab.tests.kube.helm.installing import ECHO, ECHO_OF, Installing

FETCHED = 'Error: failed to perform "FetchReference" on source:'
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


@pytest.fixture
def cluster() -> Installing:
    return Installing("n1")


def ended(cluster: Installing, name: str = "one") -> str:
    """How a job ended."""
    conditions = cluster.status(name).get("conditions", [])
    return str(conditions[-1]["type"]) if conditions else ""


def test_a_release_is_installed_and_written_down(cluster: Installing) -> None:
    cluster.job(*ECHO_OF, "--set", "replicaCount=2", "--wait")
    assert ended(cluster) == "Complete"
    assert cluster.log()[0] == 'Release "echo" does not exist. Installing it now.'
    assert "STATUS: deployed" in cluster.log()
    release = cluster.releases()[0]
    assert (release["version"], release["info"]["status"]) == (1, "deployed")
    assert release["config"] == {"replicaCount": 2}
    assert release["chart"]["metadata"]["version"] == "0.2.3"
    answer = cluster.ask("GET", f"{DEPLOYMENTS}/echo")
    assert answer["status"]["readyReplicas"] == 2
    assert answer["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "Helm"
    assert answer["metadata"]["annotations"]["meta.helm.sh/release-name"] == "echo"
    secret = cluster.ask("GET", "/api/v1/namespaces/default/secrets/sh.helm.release.v1.echo.v1")
    labels = secret["metadata"]["labels"]
    assert (labels["owner"], labels["status"], labels["version"]) == ("helm", "deployed", "1")


def test_the_log_of_the_pod_is_what_helm_said(cluster: Installing) -> None:
    cluster.job(*ECHO_OF)
    pod = next(
        item
        for item in cluster.ask("GET", "/api/v1/namespaces/install/pods")["items"]
        if item["metadata"]["name"].startswith("one-")
    )
    name = pod["metadata"]["name"]
    text = cluster.text(f"/api/v1/namespaces/install/pods/{name}/log")
    assert text.splitlines() == cluster.log()


def test_a_second_run_is_an_upgrade_that_takes_away_what_is_gone(cluster: Installing) -> None:
    cluster.job(*ECHO_OF)
    cluster.job(*ECHO_OF, "--set", "fullnameOverride=other", name="two")
    assert 'Release "echo" has been upgraded. Happy Helming!' in cluster.log("two")
    assert cluster.named(DEPLOYMENTS) == ["other"]
    told = [(release["version"], release["info"]["status"]) for release in cluster.releases()]
    assert told == [(1, "superseded"), (2, "deployed")]


def test_values_come_from_mounted_maps(cluster: Installing) -> None:
    body = {"metadata": {"name": "values"}, "data": {"echo.yaml": "replicaCount: 3\n"}}
    cluster.made("/api/v1/namespaces/install/configmaps", body)
    container = {
        "args": [*ECHO_OF, "-f", "/values/echo.yaml"],
        "volumeMounts": [{"name": "values", "mountPath": "/values"}],
    }
    volumes = [{"name": "values", "configMap": {"name": "values"}}]
    cluster.job(container=container, volumes=volumes)
    spec = cluster.ask("GET", f"{DEPLOYMENTS}/echo")["spec"]
    assert spec["replicas"] == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            (*ECHO[:3], "oci://ghcr.io/nobody/charts/echo", "--version", "0.2.3"),
            f"{FETCHED} ghcr.io/nobody/charts/echo:0.2.3: not found",
        ),
        (
            (*ECHO, "--version", "9.9.9"),
            f"{FETCHED} ghcr.io/home-operations/charts/echo:9.9.9: not found",
        ),
        (
            ("upgrade", "--install", "rook", "nothing", "--repo", "https://charts.rook.io/release"),
            'Error: chart "nothing" not found in https://charts.rook.io/release repository',
        ),
        ((*ECHO, "--values", "/none.yaml"), "Error: open /none.yaml: no such file or directory"),
        ((*ECHO, "--frobnicate"), "Error: unknown flag: --frobnicate"),
        (
            (*ECHO, "--version", "0.2.3", "--namespace", "none"),
            'Error: create: failed to create: namespaces "none" not found',
        ),
        (
            ("upgrade", "echo", ECHO[3], "--version", "0.2.3"),
            'Error: UPGRADE FAILED: "echo" has no deployed releases',
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_helms_words(
    cluster: Installing, arguments: tuple[str, ...], says: str
) -> None:
    cluster.job(*arguments)
    assert ended(cluster) == "Failed"
    assert cluster.log()[-1] == says
    assert cluster.named(DEPLOYMENTS) == []


def test_what_is_somebody_elses_is_not_taken(cluster: Installing) -> None:
    body = {"metadata": {"name": "echo"}}
    cluster.made("/api/v1/namespaces/default/serviceaccounts", body)
    cluster.job(*ECHO_OF)
    assert cluster.log()[-1] == (
        'Error: Unable to continue with install: ServiceAccount "echo" in namespace "default"'
        " exists and cannot be imported into the current release: invalid ownership metadata;"
        ' label validation error: missing key "app.kubernetes.io/managed-by": must be set to'
        ' "Helm"; annotation validation error: missing key "meta.helm.sh/release-name": must be'
        ' set to "echo"; annotation validation error: missing key'
        ' "meta.helm.sh/release-namespace": must be set to "default"'
    )
    cluster.job(*ECHO_OF, "--take-ownership", name="two")
    assert ended(cluster, "two") == "Complete"


def test_an_account_without_rights_installs_nothing(cluster: Installing) -> None:
    cluster.job(*ECHO_OF, account="weak")
    assert ended(cluster) == "Failed"
    assert cluster.log()[-1] == (
        "Error: query: failed to query with labels: secrets is forbidden: User"
        ' "system:serviceaccount:install:weak" cannot list resource "secrets" in API group ""'
        ' in the namespace "default"'
    )


def test_what_is_never_ready_is_waited_for_until_the_time_is_over(cluster: Installing) -> None:
    cluster.hosts.by_name["n1"].faults["ready"] = Effect.HANG
    cluster.job(*ECHO_OF, "--wait", "--timeout", "60s")
    assert ended(cluster) == ""
    cluster.hosts.by_name["n1"].faults.clear()
    cluster.advance(100.0)
    assert cluster.releases()[0]["info"]["status"] == "failed"
    late = "resource Deployment/default/echo not ready. status: InProgress, message: Available: 0/1"
    assert cluster.log()[-2:] == [f"Error: {late}", "context deadline exceeded"]


def test_a_fault_lets_an_install_fail(cluster: Installing) -> None:
    cluster.hosts.by_name["n1"].faults["run"] = Effect.FAIL
    cluster.job(*ECHO_OF)
    assert ended(cluster) == "Failed"
    assert cluster.log()[-1].startswith("Error: Kubernetes cluster unreachable")
    cluster.hosts.by_name["n1"].faults.clear()
    cluster.job(*ECHO_OF, name="two")
    assert ended(cluster, "two") == "Complete"


def test_a_fault_lets_an_install_take_longer_or_for_ever(cluster: Installing) -> None:
    began = cluster.timeline.now
    cluster.hosts.by_name["n1"].faults["run"] = Effect.DELAY
    cluster.job(*ECHO_OF)
    assert ended(cluster) == "Complete"
    assert cluster.timeline.now - began > 50.0
    cluster.hosts.by_name["n1"].faults["run"] = Effect.HANG
    cluster.job(*ECHO_OF, name="two")
    assert cluster.status("two")["active"] == 1


def test_an_operator_brings_its_definitions_once_it_runs(cluster: Installing) -> None:
    key = "oci://quay.io/cilium/charts/cilium"
    cluster.job("upgrade", "-i", "cilium", key, "--version", "1.20.1", "-n", "kube-system")
    result = cluster.named("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    assert "ciliumloadbalancerippools.cilium.io" in result
