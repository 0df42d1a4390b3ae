"""Services and their addresses."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import CORE, made
from tests.real.kube_api.talking import STRATEGIC, Step


def services() -> Iterator[Step]:
    place = f"{CORE}/services"
    ports = [{"port": 80, "name": "http"}, {"port": 443, "name": "tls", "targetPort": "tls"}]
    yield Step(
        "POST", place, made("Service", "v1", "a", spec={"ports": ports, "selector": {"a": "b"}})
    )
    yield Step(
        "POST", place, made("Service", "v1", "none", spec={"clusterIP": "None", "ports": ports})
    )
    yield Step(
        "POST", place, made("Service", "v1", "np", spec={"type": "NodePort", "ports": ports})
    )
    yield Step(
        "POST", place, made("Service", "v1", "lb", spec={"type": "LoadBalancer", "ports": ports})
    )
    yield Step(
        "POST",
        place,
        made("Service", "v1", "ext", spec={"type": "ExternalName", "externalName": "example.com"}),
    )
    yield Step(
        "POST",
        place,
        made("Service", "v1", "aff", spec={"sessionAffinity": "ClientIP", "ports": ports}),
    )
    yield Step("POST", place, made("Service", "v1", "bad", spec={}))
    yield Step("POST", place, made("Service", "v1", "1bad", spec={"ports": ports}))
    yield Step(
        "POST", place, made("Service", "v1", "bad", spec={"ports": [{"port": 80}, {"port": 80}]})
    )
    yield Step("POST", place, made("Service", "v1", "bad", spec={"type": "Foo", "ports": ports}))
    yield Step(
        "POST", place, made("Service", "v1", "bad", spec={"clusterIP": "10.99.0.1", "ports": ports})
    )
    yield Step("PATCH", f"{place}/a", {"spec": {"type": "NodePort"}}, STRATEGIC)
    yield Step("PATCH", f"{place}/a", {"spec": {"type": "ClusterIP"}}, STRATEGIC)
    yield Step("PATCH", f"{place}/a", {"spec": {"clusterIP": "10.43.9.9"}}, STRATEGIC)
    yield Step(
        "PATCH", f"{place}/a", {"spec": {"ports": [{"port": 80, "targetPort": 8080}]}}, STRATEGIC
    )
    yield Step("DELETE", f"{place}/a")
