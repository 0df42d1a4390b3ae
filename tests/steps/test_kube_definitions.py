"""Definitions of custom resources: installed once, and never taken from others."""

from __future__ import annotations

import asyncio
from copy import deepcopy

import pytest

from lab.tests.kube.helm.installing import Installing
from stockman.kubernetes.objects import ServerSideApply
from stockman.model.errors import Refused
from stockman.steps.kubernetes.crds import InstallCrds, load_crds
from stockman.steps.kubernetes.objects import DEFINITIONS, object_name
from tests.steps.kube_cluster import ports_of

INSTALL = InstallCrds(bundle="gateway-api", version="v1.6.1", seconds=5.0)
PLACE = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
UNSERVED: dict[str, object] = {"status": {"conditions": []}}
BUNDLE = "gateway.networking.k8s.io/bundle-version"


def first() -> dict[str, object]:
    """The first definition of the bundle, of another version."""
    made: dict[str, object] = deepcopy(dict(load_crds(INSTALL.bundle, INSTALL.version)[0]))
    metadata = made["metadata"]
    assert isinstance(metadata, dict)
    metadata["annotations"] = {**metadata.get("annotations", {}), BUNDLE: "v1.0.0"}
    return made


def test_definitions_are_installed_and_then_left() -> None:
    ports = ports_of(Installing("n1"))
    assert not asyncio.run(INSTALL.done(ports))

    asyncio.run(INSTALL.run(ports))

    assert asyncio.run(INSTALL.done(ports))


def test_a_definition_of_somebody_else_is_told_with_its_owner_and_its_fields() -> None:
    cluster = Installing("n1")
    ports = ports_of(cluster)
    theirs = first()
    kubernetes = ports.to_kubernetes()
    asyncio.run(kubernetes.apply(DEFINITIONS, ServerSideApply(content=theirs, manager="kubectl")))
    cluster.ask("PATCH", f"{PLACE}/{object_name(theirs)}/status", UNSERVED)

    with pytest.raises(Refused) as caught:
        asyncio.run(INSTALL.run(ports))

    problem = caught.value.problem
    assert problem.code == "kube.foreign"
    assert "set by kubectl" in problem.why
