"""Secrets in a cluster: put there once, never taken from others, never told."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from lab.tests.kube.helm.installing import Installing
from stockman.kubernetes.objects import SECRETS, ServerSideApply
from stockman.model.errors import Refused
from stockman.steps.kubernetes.resources import (
    ApplyConfigMap,
    ApplyNamespace,
    ApplySecret,
    SecretEntry,
)
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from tests.steps.kube_cluster import Pockets, ports_of

PLACE = "/api/v1/namespaces/default/secrets/sops-age"
CANARY = "canary-of-the-flock"
APPLY = ApplySecret(
    namespace="default",
    name="sops-age",
    entries=(SecretEntry(key="age.agekey", value=SecretRef(place="here")),),
)


@pytest.fixture
def cluster() -> Installing:
    return Installing("n1")


def put_by(cluster: Installing, manager: str, value: str, **labels: str) -> Ports:
    ports = ports_of(cluster, here=CANARY)
    content = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "sops-age", "namespace": "default", "labels": labels},
        "data": {"age.agekey": base64.b64encode(value.encode()).decode()},
    }
    server_side_apply = ServerSideApply(content=content, manager=manager)
    asyncio.run(ports.to_kubernetes().apply(SECRETS, server_side_apply))
    return ports


def held(cluster: Installing) -> Any:
    return base64.b64decode(cluster.ask("GET", PLACE)["data"]["age.agekey"]).decode()


def test_a_secret_is_put_there_and_then_left(cluster: Installing) -> None:
    ports = ports_of(cluster, here=CANARY)
    assert not asyncio.run(APPLY.done(ports))

    asyncio.run(APPLY.run(ports))

    assert asyncio.run(APPLY.done(ports))
    assert held(cluster) == CANARY
    fields = cluster.ask("GET", PLACE)["metadata"]["managedFields"]
    assert [(field["manager"], field["operation"]) for field in fields] == [("stockman", "Apply")]


def test_a_value_that_changed_is_put_right(cluster: Installing) -> None:
    ports = ports_of(cluster, here="the old one")
    asyncio.run(APPLY.run(ports))
    assert isinstance(ports.secrets, Pockets)
    ports.secrets.values["here"] = CANARY

    assert not asyncio.run(APPLY.done(ports))
    asyncio.run(APPLY.run(ports))

    assert held(cluster) == CANARY


def test_a_value_of_somebody_else_is_refused_without_telling_it(cluster: Installing) -> None:
    ports = put_by(cluster, "kubectl", "theirs")

    with pytest.raises(Refused) as caught:
        asyncio.run(APPLY.run(ports))

    problem = caught.value.problem
    assert problem.code == "kube.foreign"
    assert "its value differs for age.agekey; it is managed by kubectl" in problem.why
    assert CANARY not in str(problem)
    assert held(cluster) == "theirs"


def test_the_same_value_of_somebody_else_is_good(cluster: Installing) -> None:
    ports = put_by(cluster, "kubectl", CANARY)

    assert asyncio.run(APPLY.done(ports))


def test_what_flux_keeps_is_left_to_flux(cluster: Installing) -> None:
    ports = put_by(
        cluster, "kustomize-controller", "new", **{"kustomize.toolkit.fluxcd.io/name": "apps"}
    )

    assert asyncio.run(APPLY.done(ports))


def test_namespaces_and_maps_are_made_once(cluster: Installing) -> None:
    ports = ports_of(cluster)
    level = {"pod-security.kubernetes.io/enforce": "privileged"}
    for action in (
        ApplyNamespace(name="wool", labels=level),
        ApplyConfigMap(namespace="default", name="authorities", data={"a.crt": "x"}),
    ):
        assert not asyncio.run(action.done(ports))
        asyncio.run(action.run(ports))
        asyncio.run(action.run(ports))
        assert asyncio.run(action.done(ports))
    assert cluster.ask("GET", "/api/v1/namespaces/wool")["metadata"]["labels"].items() >= (
        level.items()
    )


def test_labels_of_a_namespace_that_others_chose_are_theirs(cluster: Installing) -> None:
    body = {
        "metadata": {"name": "wool", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}
    }
    cluster.made("/api/v1/namespaces", body)
    action = ApplyNamespace(
        name="wool", labels={"pod-security.kubernetes.io/enforce": "privileged"}
    )

    with pytest.raises(Refused, match=r"kube\.foreign"):
        asyncio.run(action.run(ports_of(cluster)))
