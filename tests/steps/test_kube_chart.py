"""Charts installed by Jobs: what stands in their way, and what they leave behind."""

from __future__ import annotations

import asyncio
import json

import pytest
from stockman_lab.core.faults import Effect

from lab.tests.kube.helm.installing import Installing
from stockman.model.errors import Refused, Rejected
from stockman.steps.kubernetes.chart import ChartInstall, InstallChart, build_install_job
from tests.steps.kube_cluster import ports_of

JOBS = "/apis/batch/v1/namespaces/kube-system/jobs"
MAPS = "/api/v1/namespaces/kube-system/configmaps"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
ECHO = ChartInstall(
    release="echo",
    namespace="default",
    source="oci://ghcr.io/home-operations/charts/echo",
    version="0.2.3",
    values=json.dumps({"replicaCount": 2}),
)
INSTALL = InstallChart(install=ECHO)


@pytest.fixture
def cluster() -> Installing:
    return Installing("n1")


def left(cluster: Installing) -> list[str]:
    names = [*cluster.named(JOBS), *cluster.named(MAPS), *cluster.named(BINDINGS)]
    return [name for name in names if name.startswith("stockman-install-")]


def test_a_chart_is_installed_with_its_values_and_nothing_stays(cluster: Installing) -> None:
    ports = ports_of(cluster)
    assert not asyncio.run(INSTALL.done(ports))

    asyncio.run(INSTALL.run(ports))

    assert asyncio.run(INSTALL.done(ports))
    assert left(cluster) == []
    release = cluster.releases()[0]
    assert (release["name"], release["version"]) == ("echo", 1)
    assert release["config"] == {"replicaCount": 2}


def test_the_job_works_before_there_is_a_network() -> None:
    content = build_install_job(ECHO, "digest")

    text = json.dumps(content)
    spec = json.loads(text)["spec"]
    pod = spec["template"]["spec"]
    assert pod["hostNetwork"] is True
    assert pod["dnsPolicy"] == "Default"
    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert spec["ttlSecondsAfterFinished"] > 0
    assert ":" in pod["containers"][0]["image"].rpartition("/")[2]
    variables = {one["name"]: one for one in pod["containers"][0]["env"]}
    assert variables["KUBERNETES_SERVICE_PORT"]["value"] == "6443"


def test_a_chart_of_a_repository_is_named_with_it() -> None:
    install = ChartInstall(
        release="rook",
        namespace="rook-ceph",
        source="https://charts.rook.io/release",
        chart="rook-ceph",
        version="v1.20.2",
        values="{}",
    )

    assert install.arguments[2:6] == ("rook", "rook-ceph", "--repo", install.source)


def test_an_install_that_was_cut_off_is_begun_anew(cluster: Installing) -> None:
    secret = {
        "metadata": {
            "name": "sh.helm.release.v1.echo.v1",
            "labels": {
                "owner": "helm",
                "name": "echo",
                "status": "pending-install",
                "version": "1",
            },
        },
        "type": "helm.sh/release.v1",
    }
    cluster.made("/api/v1/namespaces/default/secrets", secret)

    asyncio.run(INSTALL.run(ports_of(cluster)))

    assert cluster.releases()[0]["info"]["status"] == "deployed"


def test_a_job_of_other_values_is_replaced(cluster: Installing) -> None:
    cluster.hosts.by_name["n1"].faults["run"] = Effect.HANG
    ports = ports_of(cluster)
    chart_install = ChartInstall(
        release="echo", namespace="default", source=ECHO.source, version="0.2.2", values="{}"
    )
    cluster.made(JOBS, build_install_job(chart_install, "another"))
    cluster.settle()
    cluster.hosts.by_name["n1"].faults.clear()

    asyncio.run(INSTALL.run(ports))

    assert cluster.releases()[0]["chart"]["metadata"]["version"] == "0.2.3"
    assert left(cluster) == []


def test_objects_of_others_with_the_names_of_ours_are_refused(cluster: Installing) -> None:
    cluster.made(MAPS, {"metadata": {"name": "stockman-install-echo"}, "data": {"a": "b"}})

    with pytest.raises(Refused) as caught:
        asyncio.run(INSTALL.run(ports_of(cluster)))

    assert caught.value.problem.code == "kube.foreign"
    assert "configmaps stockman-install-echo in kube-system" in caught.value.problem.what
    assert cluster.named(JOBS) == []


def test_what_helm_would_have_to_take_from_others_is_told(cluster: Installing) -> None:
    cluster.made("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "echo"}})

    with pytest.raises(Rejected) as caught:
        asyncio.run(INSTALL.run(ports_of(cluster)))

    assert "cannot be imported into the current release" in caught.value.problem.why
    assert left(cluster) == []


def test_an_image_that_does_not_come_is_told(cluster: Installing) -> None:
    cluster.hosts.by_name["n1"].missing.add(ECHO.image)

    with pytest.raises(Rejected) as caught:
        asyncio.run(INSTALL.run(ports_of(cluster)))

    assert "DeadlineExceeded" in caught.value.problem.why
    assert left(cluster) == []
