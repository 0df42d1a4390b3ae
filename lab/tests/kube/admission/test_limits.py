"""Quotas and limit ranges: what containers get, and what is more than there may be."""

from __future__ import annotations

from typing import Any

import pytest

from lab.tests.kube.asking import MAPS, Served, served
from lab.tests.kube.controllers.playing import CORE, played

PODS = "/api/v1/namespaces/default/pods"
QUOTAS = "/api/v1/namespaces/default/resourcequotas"
RANGES = "/api/v1/namespaces/default/limitranges"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"


@pytest.fixture
def server() -> Served:
    return served()


def pod(name: str = "a", **resources: Any) -> dict[str, Any]:
    container = {"name": "one", "image": "wool:1", "resources": resources}
    return {"metadata": {"name": name}, "spec": {"containers": [container]}}


def limit(server: Served, **item: Any) -> None:
    body = {"metadata": {"name": "usual"}, "spec": {"limits": [{"type": "Container", **item}]}}
    assert server.ask("POST", RANGES, body)["kind"] == "LimitRange"


def allow(server: Served, **hard: str) -> None:
    values = {name.replace("_", "."): value for name, value in hard.items()}
    body = {"metadata": {"name": "few"}, "spec": {"hard": values}}
    assert server.ask("POST", QUOTAS, body)["kind"] == "ResourceQuota"


def test_containers_get_what_they_do_not_ask_for(server: Served) -> None:
    limit(server, default={"cpu": "200m"}, defaultRequest={"cpu": "50m"})

    made = server.ask("POST", PODS, pod())

    resources = made["spec"]["containers"][0]["resources"]
    assert resources == {"limits": {"cpu": "200m"}, "requests": {"cpu": "50m"}}
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu request for container one; cpu limit for container one"
    )


@pytest.mark.parametrize(
    ("item", "asked", "why"),
    [
        (
            {"max": {"cpu": "1"}},
            {"limits": {"cpu": "2"}},
            "maximum cpu usage per Container is 1, but limit is 2",
        ),
        (
            {"min": {"memory": "64Mi"}},
            {"requests": {"memory": "32Mi"}},
            "minimum memory usage per Container is 64Mi, but request is 32Mi",
        ),
        (
            {"type": "Pod", "min": {"memory": "64Mi"}},
            {},
            "minimum memory usage per Pod is 64Mi.  No request is specified",
        ),
    ],
)
def test_containers_beyond_limits_are_refused(
    server: Served, item: dict[str, Any], asked: dict[str, Any], why: str
) -> None:
    limit(server, **item)

    found = server.ask("POST", PODS, pod(**asked))

    assert found["message"] == f'pods "a" is forbidden: {why}'


def test_claims_beyond_limits_are_refused(server: Served) -> None:
    limit(server, type="PersistentVolumeClaim", max={"storage": "1Gi"})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}

    found = server.ask("POST", CLAIMS, {"metadata": {"name": "a"}, "spec": spec})

    assert found["message"].endswith(
        "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi"
    )


def test_more_than_a_quota_allows_is_refused(server: Served) -> None:
    allow(server, pods="1", requests_cpu="1")
    asked = {"requests": {"cpu": "600m"}}
    assert server.ask("POST", PODS, pod("a", **asked))["kind"] == "Pod"

    found = server.ask("POST", PODS, pod("b", **asked))

    assert found["message"] == (
        'pods "b" is forbidden: exceeded quota: few, requested: pods=1,requests.cpu=600m,'
        " used: pods=1,requests.cpu=600m, limited: pods=1,requests.cpu=1"
    )


def test_who_is_counted_by_what_it_asks_has_to_ask(server: Served) -> None:
    allow(server, limits_memory="1Gi")

    found = server.ask("POST", PODS, pod())

    assert found["message"] == (
        'pods "a" is forbidden: failed quota: few: must specify limits.memory for: one'
    )


def test_a_quota_with_scopes_limits_nothing(server: Served) -> None:
    spec = {"hard": {"pods": "0"}, "scopes": ["BestEffort"]}
    server.ask("POST", QUOTAS, {"metadata": {"name": "few"}, "spec": spec})

    assert server.ask("POST", PODS, pod())["kind"] == "Pod"


def test_a_quota_tells_how_much_is_used() -> None:
    lab = played()
    hard = {"configmaps": "9", "requests.memory": "1Gi", "count/services": "2"}
    lab.ask("POST", QUOTAS, {"metadata": {"name": "few"}, "spec": {"hard": hard}})
    before = lab.get(f"{QUOTAS}/few")["status"]["used"]
    lab.ask("POST", MAPS, {"metadata": {"name": "more"}})
    asked = {"requests": {"memory": "64Mi"}}
    for name in ("a", "b"):
        lab.ask("POST", PODS, pod(name, **asked))

    status = lab.get(f"{QUOTAS}/few")["status"]

    assert status["hard"] == hard
    assert int(status["used"].pop("configmaps")) == int(before["configmaps"]) + 1
    assert status["used"] == {"count/services": "0", "requests.memory": "128Mi"}
    lab.ask("DELETE", f"{CORE}/pods/a?gracePeriodSeconds=0")
    assert lab.get(f"{QUOTAS}/few")["status"]["used"]["requests.memory"] == "64Mi"
