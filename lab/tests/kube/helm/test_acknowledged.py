"""What programs say of objects that are in order."""

from __future__ import annotations

from typing import Any

from stockman_lab.kube.helm.acknowledged import Found, conditions_of, status_of

NOW, LATER = "2026-03-01T06:00:00Z", "2026-03-01T07:00:00Z"
SELF_SIGNED = {"metadata": {"name": "selfsigned", "generation": 1}, "spec": {"selfSigned": {}}}
OF_CA = {"metadata": {"name": "internal-ca"}, "spec": {"ca": {"secretName": "root"}}}
CERTIFICATE = {
    "metadata": {"name": "web", "namespace": "network"},
    "spec": {"secretName": "web-tls", "issuerRef": {"kind": "ClusterIssuer", "name": "selfsigned"}},
}


class Store(dict[Found, dict[str, Any]]):
    """Objects by what they are looked for with."""


def told(plural: str, content: dict[str, Any], store: Store) -> list[tuple[str, str, str]]:
    conditions = conditions_of(plural, content, store.get)
    return [(condition.type, condition.status, condition.reason) for condition in conditions]


def test_an_issuer_that_signs_itself_is_ready() -> None:
    assert told("clusterissuers", SELF_SIGNED, Store()) == [("Ready", "True", "IsReady")]


def test_an_issuer_of_an_authority_waits_for_its_key_pair() -> None:
    store = Store({Found("secrets", "cert-manager/root"): {}})

    assert told("clusterissuers", OF_CA, Store()) == [("Ready", "False", "ErrGetKeyPair")]
    assert told("clusterissuers", OF_CA, store) == [("Ready", "True", "KeyPairVerified")]


def test_a_certificate_waits_for_its_issuer() -> None:
    issuer = Found("clusterissuers", "selfsigned", "cert-manager.io")
    ready = {**SELF_SIGNED, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}

    assert told("certificates", CERTIFICATE, Store()) == [("Ready", "False", "DoesNotExist")]
    assert told("certificates", CERTIFICATE, Store({issuer: SELF_SIGNED})) == [
        ("Ready", "False", "DoesNotExist")
    ]
    assert told("certificates", CERTIFICATE, Store({issuer: ready})) == [("Ready", "True", "Ready")]


def test_times_stay_while_nothing_changes() -> None:
    conditions = conditions_of("clusterissuers", SELF_SIGNED, Store().get)
    first = status_of("clusterissuers", SELF_SIGNED, conditions, NOW)

    again = status_of("clusterissuers", {**SELF_SIGNED, "status": first}, conditions, LATER)

    assert again == first


def test_a_time_is_new_when_the_status_is_another() -> None:
    refused = conditions_of("clusterissuers", OF_CA, Store().get)
    before = status_of("clusterissuers", OF_CA, refused, NOW)
    store = Store({Found("secrets", "cert-manager/root"): {}})
    conditions = conditions_of("clusterissuers", OF_CA, store.get)

    after = status_of("clusterissuers", {**OF_CA, "status": before}, conditions, LATER)

    assert after["conditions"][0]["lastTransitionTime"] == LATER


def test_a_route_is_accepted_by_each_of_its_gateways() -> None:
    parents = [{"name": "envoy-internal"}, {"name": "envoy-external"}]
    route = {"metadata": {"name": "echo"}, "spec": {"parentRefs": parents}}

    found = status_of("httproutes", route, (), NOW)["parents"]

    assert [one["parentRef"] for one in found] == parents
    assert {condition["status"] for one in found for condition in one["conditions"]} == {"True"}


def test_an_api_that_the_server_serves_itself_is_left_alone() -> None:
    own = {"metadata": {"name": "v1.apps"}, "spec": {}, "status": {"conditions": []}}
    conditions = conditions_of("apiservices", own, Store().get)

    assert status_of("apiservices", own, conditions, NOW) == {"conditions": []}
