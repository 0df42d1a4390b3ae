"""What is not said is filled in."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.schema.builtin_defaults import PLAIN, SPECIAL, pull_policy
from stockman_lab.kube.schema.defaulting import fill_defaults
from stockman_lab.kube.schema.tables import builtin
from stockman_lab.kube.schema.types import Types

from lab.tests.kube.widgets import widget, widgets

TYPES = Types.of_server()


def filled(kind: str, content: dict[str, Any], group: str = "") -> Any:
    """An object with its defaults."""
    fill_defaults(TYPES.type_of(group, "v1", kind), content)
    return content


@pytest.mark.parametrize("name", [*PLAIN, *SPECIAL])
def test_defaults_are_of_types_and_fields_that_there_are(name: str) -> None:
    assert PLAIN.get(name, {}).keys() <= builtin(name).fields.keys()


def test_a_deployment_gets_its_strategy_and_its_pods_their_policies() -> None:
    found = filled("Deployment", {"spec": {"template": {"spec": {"containers": [{}]}}}}, "apps")

    assert found["spec"]["replicas"] == 1
    assert found["spec"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert found["spec"]["template"]["spec"]["restartPolicy"] == "Always"
    assert found["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] == "Always"


def test_what_is_said_stays() -> None:
    spec = {"replicas": 0, "strategy": {"type": "Recreate"}, "template": {"spec": {}}}

    found = filled("Deployment", {"spec": spec}, "apps")

    assert found["spec"]["replicas"] == 0
    assert found["spec"]["strategy"] == {"type": "Recreate"}


def test_requests_of_pods_follow_their_limits() -> None:
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m"}}

    found = filled("Pod", {"spec": {"containers": [{"name": "a", "resources": resources}]}})

    requests = found["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "100m", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        *(("nginx", "Always"), ("nginx:latest", "Always"), ("nginx:1", "IfNotPresent")),
        *(("127.0.0.1:5000/a", "Always"), ("a@sha256:00", "IfNotPresent"), ("", "Always")),
    ],
)
def test_images_without_a_version_are_always_pulled(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


@pytest.mark.parametrize(
    ("spec", "field", "value"),
    [
        ({"ports": [{"port": 80}]}, "ports", [{"port": 80, "targetPort": 80, "protocol": "TCP"}]),
        ({}, "internalTrafficPolicy", "Cluster"),
        ({"type": "NodePort"}, "externalTrafficPolicy", "Cluster"),
        ({"type": "ExternalName"}, "internalTrafficPolicy", None),
        (
            {"sessionAffinity": "ClientIP"},
            "sessionAffinityConfig",
            {"clientIP": {"timeoutSeconds": 10800}},
        ),
    ],
)
def test_services_are_completed_by_their_type(
    spec: dict[str, Any], field: str, value: object
) -> None:
    assert filled("Service", {"spec": spec})["spec"].get(field) == value


def test_defaults_of_custom_kinds_are_filled_in_at_every_depth() -> None:
    inner = {"type": "object", "default": {}, "properties": {"b": {"default": 1}}}
    items = {"type": "object", "properties": {"v": {"type": "integer", "default": 3}}}
    made = widgets(a=inner, list={"type": "array", "items": items})
    found: Any = widget(list=[{}, {"v": 1}])

    fill_defaults(made, found)

    assert found["spec"] == {"list": [{"v": 3}, {"v": 1}], "a": {"b": 1}}


def test_nulls_stay_only_where_they_may_be() -> None:
    made = widgets(
        may={"type": "string", "nullable": True, "default": "x"},
        may_not={"type": "string"},
        filled={"type": "string", "default": "x"},
    )
    found: Any = widget(may=None, may_not=None, filled=None)

    fill_defaults(made, found)

    assert found["spec"] == {"may": None, "filled": "x"}
