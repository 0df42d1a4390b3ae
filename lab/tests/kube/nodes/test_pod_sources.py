"""Pods wait for the Secrets and ConfigMaps that they are given, as the kubelet lets them."""

from __future__ import annotations

from typing import Any

import pytest

from lab.tests.kube.nodes.running import Running, up

SPACE = "/api/v1/namespaces/default"
CONTAINER = {"name": "main", "image": "example/program:1"}


def given(cluster: Running, kind: str, **data: str) -> None:
    """Somebody makes a Secret or a ConfigMap with the name `given`."""
    body: dict[str, Any] = {"metadata": {"name": "given"}}
    body["stringData" if kind == "secrets" else "data"] = data
    assert cluster.ask("POST", f"{SPACE}/{kind}", body)["metadata"]["name"] == "given"


def waiting(cluster: Running) -> dict[str, Any]:
    """Why the container of the pod does not run."""
    (state,) = cluster.found()["status"]["containerStatuses"]
    found: dict[str, Any] = state["state"].get("waiting", {})
    return found


Case = tuple[str, dict[str, Any], str]
MOUNT = {"name": "config", "mountPath": "/etc/config"}
MOUNTS: dict[str, Case] = {
    "secret": ("secrets", {"secret": {"secretName": "given"}}, 'secret "given" not found'),
    "map": ("configmaps", {"configMap": {"name": "given"}}, 'configmap "given" not found'),
    "projected secret": (
        "secrets",
        {"projected": {"sources": [{"secret": {"name": "given"}}]}},
        'secret "given" not found',
    ),
}


@pytest.mark.parametrize("what", MOUNTS)
def test_a_pod_is_not_created_before_what_it_mounts_is_there(what: str) -> None:
    kind, volume, why = MOUNTS[what]
    cluster = up("n1")
    cluster.pod(
        volumes=[{"name": "config", **volume}],
        containers=[{**CONTAINER, "volumeMounts": [MOUNT]}],
    )
    cluster.advance(60)

    before = cluster.found()["status"]["phase"], waiting(cluster)["reason"]
    events = cluster.events("one")
    given(cluster, kind, a="1")
    cluster.advance(240)

    assert before == ("Pending", "ContainerCreating")
    failed = ("FailedMount", f'MountVolume.SetUp failed for volume "config" : {why}')
    assert failed in events
    assert "Pulling" not in [reason for reason, _ in events]
    assert cluster.found()["status"]["phase"] == "Running"


def test_a_key_that_a_mount_names_has_to_be_there() -> None:
    cluster = up("n1")
    given(cluster, "secrets", other="1")
    secret = {"secretName": "given", "items": [{"key": "token", "path": "token"}]}
    cluster.pod(
        volumes=[{"name": "config", "secret": secret}],
        containers=[{**CONTAINER, "volumeMounts": [MOUNT]}],
    )

    cluster.advance(60)

    why = "references non-existent secret key: token"
    failed = ("FailedMount", f'MountVolume.SetUp failed for volume "config" : {why}')
    assert failed in cluster.events("one")


VARIABLES: dict[str, Case] = {
    "one of a secret": (
        "secrets",
        {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "given", "key": "a"}}}]},
        'secret "given" not found',
    ),
    "one of a map": (
        "configmaps",
        {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "given", "key": "a"}}}]},
        'configmap "given" not found',
    ),
    "all of a secret": (
        "secrets",
        {"envFrom": [{"secretRef": {"name": "given"}}]},
        'secret "given" not found',
    ),
    "all of a map": (
        "configmaps",
        {"envFrom": [{"configMapRef": {"name": "given"}}]},
        'configmap "given" not found',
    ),
}


@pytest.mark.parametrize("what", VARIABLES)
def test_a_container_is_not_created_before_its_environment_is_there(what: str) -> None:
    kind, more, why = VARIABLES[what]
    cluster = up("n1")
    cluster.pod(containers=[{**CONTAINER, **more}])
    cluster.advance(60)

    before, events = waiting(cluster), cluster.events("one")
    given(cluster, kind, a="1")
    cluster.advance(60)

    assert before == {"reason": "CreateContainerConfigError", "message": why}
    assert ("Failed", f"Error: {why}") in events
    assert cluster.found()["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("kind", "named"), [("secrets", "Secret"), ("configmaps", "ConfigMap")], ids=str
)
def test_a_key_that_a_variable_names_has_to_be_there(kind: str, named: str) -> None:
    cluster = up("n1")
    given(cluster, kind, other="1")
    place = "secretKeyRef" if kind == "secrets" else "configMapKeyRef"
    reference = {place: {"name": "given", "key": "a"}}
    cluster.pod(containers=[{**CONTAINER, "env": [{"name": "A", "valueFrom": reference}]}])

    cluster.advance(60)

    assert waiting(cluster)["message"] == f"couldn't find key a in {named} default/given"


def test_what_is_optional_is_not_waited_for() -> None:
    cluster = up("n1")
    reference = {"secretKeyRef": {"name": "given", "key": "a", "optional": True}}
    cluster.pod(
        volumes=[{"name": "config", "configMap": {"name": "given", "optional": True}}],
        containers=[
            {
                **CONTAINER,
                "volumeMounts": [MOUNT],
                "env": [{"name": "A", "valueFrom": reference}],
                "envFrom": [{"configMapRef": {"name": "given", "optional": True}}],
            }
        ],
    )

    cluster.advance(60)

    assert cluster.found()["status"]["phase"] == "Running"


def test_what_no_container_mounts_is_not_waited_for() -> None:
    cluster = up("n1")
    cluster.pod(volumes=[{"name": "config", "secret": {"secretName": "given"}}])

    cluster.advance(60)

    assert cluster.found()["status"]["phase"] == "Running"
