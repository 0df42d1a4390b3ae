"""Pods: defaults, refusals, binding, eviction, deletion."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import CORE, POLICY, made, pod_spec
from tests.real.kube_api.talking import MERGE, STRATEGIC, Step, asked


def pods() -> Iterator[Step]:
    place = f"{CORE}/pods"
    yield Step("POST", place, made("Pod", "v1", "a", spec=pod_spec()))
    yield Step("POST", place, made("Pod", "v1", "bad", spec={}))
    yield Step("POST", place, made("Pod", "v1", "bad", spec={"containers": []}))
    yield Step("POST", place, made("Pod", "v1", "bad", spec={"containers": [{"image": "x"}]}))
    yield Step(
        "POST",
        place,
        made(
            "Pod", "v1", "bad", spec={"containers": [{"name": "X_", "image": "x"}, {"name": "X_"}]}
        ),
    )
    yield Step(
        "POST", place, made("Pod", "v1", "bad", spec=pod_spec(restartPolicy="Foo", dnsPolicy="Bar"))
    )
    yield Step("POST", place, made("Pod", "v1", "bad", spec=pod_spec(serviceAccountName="nobody")))
    yield Step("POST", place, made("Pod", "v1", "bad", spec=pod_spec(priorityClassName="nope")))
    yield Step(
        "POST", place, made("Pod", "v1", "bad", spec=pod_spec(terminationGracePeriodSeconds=-1))
    )
    resources = {"limits": {"cpu": "1", "memory": "64Mi"}}
    rich = {
        "name": "one",
        "image": "wool",
        "resources": resources,
        "ports": [{"containerPort": 80}],
        "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "livenessProbe": {"httpGet": {"port": 80}},
        "volumeMounts": [{"name": "v", "mountPath": "/v"}],
    }
    volumes = [{"name": "v"}, {"name": "s", "secret": {"secretName": "x"}}]
    yield Step(
        "POST",
        place,
        made(
            "Pod",
            "v1",
            "rich",
            spec={
                "containers": [rich],
                "volumes": volumes,
                "nodeName": "n1",
                "priorityClassName": "system-node-critical",
            },
        ),
    )
    unmounted = {"name": "one", "image": "x", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    yield Step("POST", place, made("Pod", "v1", "bad", spec={"containers": [unmounted]}))
    badly = {
        "name": "one",
        "image": "x",
        "ports": [{"containerPort": 0}],
        "env": [{"name": ""}],
        "imagePullPolicy": "Foo",
    }
    yield Step("POST", place, made("Pod", "v1", "bad", spec={"containers": [badly]}))
    less = {
        "name": "one",
        "image": "x",
        "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}},
    }
    yield Step("POST", place, made("Pod", "v1", "bad", spec={"containers": [less]}))
    yield Step(
        "PATCH",
        f"{place}/a",
        {"spec": {"containers": [{"name": "one", "image": "wool:2"}]}},
        STRATEGIC,
    )
    yield Step("PATCH", f"{place}/a", {"spec": {"restartPolicy": "Never"}}, STRATEGIC)
    yield Step("PATCH", f"{place}/a", {"metadata": {"labels": {"a": "b"}}}, STRATEGIC)
    bind = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "a"},
        "target": {"kind": "Node", "name": "n1"},
    }
    yield Step("POST", f"{place}/a/binding", bind)
    yield Step("POST", f"{place}/a/binding", bind)
    yield Step("POST", f"{place}/nope/binding", bind)
    yield Step("POST", f"{CORE}/bindings", bind)
    yield Step("GET", f"{place}/a")
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    yield Step("PATCH", f"{place}/a/status", ready, STRATEGIC)
    yield Step("GET", asked(place, fieldSelector="spec.nodeName=n1"))
    yield Step("GET", asked(place, fieldSelector="status.phase=Running"))
    yield Step("GET", asked(place, fieldSelector="spec.foo=Running"))
    yield Step("GET", asked(place, labelSelector="a=b"))
    yield Step("GET", asked(place, labelSelector="a notin (b,c)"))
    yield Step("GET", asked(f"{place}/a/log", container="nope"))
    budget = made(
        "PodDisruptionBudget",
        "policy/v1",
        "few",
        spec={"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}},
    )
    yield Step("POST", f"{POLICY}/poddisruptionbudgets", budget)
    yield Step(
        "POST",
        f"{POLICY}/poddisruptionbudgets",
        made(
            "PodDisruptionBudget", "policy/v1", "bad", spec={"minAvailable": 1, "maxUnavailable": 1}
        ),
    )
    evict = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "a", "namespace": "NS"},
    }
    yield Step("POST", f"{place}/a/eviction", evict)
    status = {
        "status": {
            "observedGeneration": 1,
            "currentHealthy": 1,
            "desiredHealthy": 1,
            "expectedPods": 1,
        }
    }
    yield Step("PATCH", f"{POLICY}/poddisruptionbudgets/few/status", status, MERGE)
    yield Step("POST", f"{place}/a/eviction", evict)
    yield Step(
        "PATCH",
        f"{POLICY}/poddisruptionbudgets/few/status",
        {"status": {"disruptionsAllowed": 1}},
        MERGE,
    )
    yield Step("POST", f"{place}/a/eviction", evict)
    yield Step("GET", f"{place}/a")
    yield Step("POST", f"{place}/nope/eviction", evict)
    yield Step("DELETE", f"{place}/rich")
    yield Step("DELETE", f"{place}/rich")
    yield Step("DELETE", f"{place}/rich", {"gracePeriodSeconds": 0})
    yield Step("POST", place, made("Pod", "v1", "plain", spec=pod_spec()))
    yield Step("DELETE", f"{place}/plain")
