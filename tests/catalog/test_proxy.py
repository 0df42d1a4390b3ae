"""The proxy of a site is given to everything in the cluster that fetches charts and sources."""

from __future__ import annotations

import pytest
import yaml

from stockman.assessment.kubernetes import desired_kubernetes
from stockman.catalog.proxy import has_hidden_proxy, proxy_variables
from stockman.steps.kubernetes.chart import build_install_job
from tests.catalog.estates import rendered, wanted
from tests.catalog.looking import values

PROXY = {
    "talos": {
        "environment": {"https_proxy": "http://127.66.0.9:3128", "no_proxy": "git.example.com"}
    }
}
SECRET = "http://user:pass@127.66.0.9:3128"  # not-a-secret: an example
HIDDEN = {"talos": {"environment": {"https_proxy": SECRET}}}


def test_the_cluster_itself_is_reached_without_the_proxy() -> None:
    variables = proxy_variables(wanted(PROXY))

    assert variables["HTTPS_PROXY"] == "http://127.66.0.9:3128"
    exceptions = variables["NO_PROXY"].split(",")
    cluster = wanted(PROXY).cluster
    assert cluster is not None
    assert {"git.example.com", ".svc", str(cluster.kubernetes.svc_cidr)} <= set(exceptions)
    assert str(cluster.kubernetes.api_addr) in exceptions


def test_operator_controllers_and_jobs_get_the_proxy() -> None:
    repository = rendered(PROXY)
    cluster = wanted(PROXY).cluster
    assert cluster is not None
    kubernetes = desired_kubernetes(cluster, repository)

    operator = values(repository, "flux-operator")["extraEnvs"]
    patches = values(repository, "flux-instance")["instance"]["kustomize"]["patches"]
    (patch,) = [patch for patch in patches if "HTTPS_PROXY" in patch["patch"]]
    jobs = [build_install_job(chart.install, "x") for chart in kubernetes.charts]

    assert {"name": "HTTPS_PROXY", "value": "http://127.66.0.9:3128"} in operator
    assert "source-controller" in patch["target"]["name"]
    assert yaml.safe_load(patch["patch"])[0]["path"] == "/spec/template/spec/containers/0/env/-"
    assert all("HTTPS_PROXY" in repr(job) for job in jobs)


def test_a_proxy_with_a_password_is_not_committed() -> None:
    assert proxy_variables(wanted(HIDDEN)) == {}
    assert has_hidden_proxy(wanted(HIDDEN))
    assert "user:pass" not in repr(values(rendered(HIDDEN), "flux-operator"))


@pytest.mark.parametrize("release", ["flux-operator"])
def test_without_a_proxy_nothing_is_added(release: str) -> None:
    assert proxy_variables(wanted({})) == {}
    assert "extraEnvs" not in values(rendered(), release)
