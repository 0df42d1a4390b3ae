"""What is done to both clusters, topic by topic; after every word it is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.real.kube_api.bodies import (
    APPS,
    BATCH,
    CORE,
    POLICY,
    deployment,
    made,
    pod_spec,
    template,
)
from tests.real.kube_api.talking import MERGE, Step

READY, SUCCEED, FAIL, LOOK = "READY", "SUCCEED", "FAIL", "LOOK"
BIND, WAIT, WAIT_LONG = "BIND", "WAIT", "WAIT LONG"
Word = Step | str
SELECTOR = {"matchLabels": {"app": "wool"}}


def rollout() -> Iterator[Word]:
    """A deployment is made, gets another image, is scaled, paused, resumed and restarted."""
    path = f"{APPS}/deployments/wool"
    yield Step("POST", f"{APPS}/deployments", deployment("wool", replicas=3))
    yield READY
    image = {"spec": {"template": {"spec": {"containers": [{"name": "one", "image": "wool:2"}]}}}}
    yield Step("PATCH", path, image, "application/strategic-merge-patch+json")
    yield LOOK
    yield Step("PATCH", path, {"spec": {"replicas": 6}}, MERGE)
    yield READY
    yield READY
    yield READY
    yield Step("PATCH", path, {"spec": {"replicas": 2, "paused": True}}, MERGE)
    yield LOOK
    yield Step("PATCH", path, {"spec": {"paused": None}}, MERGE)
    yield LOOK
    note = {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}}
    yield Step("PATCH", path, {"spec": {"template": {"metadata": note}}}, MERGE)
    yield READY
    yield READY


def recreated() -> Iterator[Word]:
    """A deployment whose old pods go before new ones come, and going back to what it was."""
    path = f"{APPS}/deployments/wool"
    strategy = {"type": "Recreate"}
    yield Step("POST", f"{APPS}/deployments", deployment("wool", replicas=2, strategy=strategy))
    yield READY
    for image in ("wool:2", "wool:1.0"):
        container = [{"name": "one", "image": image}]
        change = {"spec": {"template": {"spec": {"containers": container}}}}
        yield Step("PATCH", path, change, "application/strategic-merge-patch+json")
        yield LOOK
        yield READY


def stateful() -> Iterator[Word]:
    """A stateful set comes up in order, is updated in the other direction, and shrinks."""
    path = f"{APPS}/statefulsets/wool"
    spec = {"replicas": 3, "serviceName": "wool", "selector": SELECTOR, "template": template()}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = [{"metadata": {"name": "data"}, "spec": claim}]
    spec |= {"volumeClaimTemplates": claims}
    yield Step("POST", f"{APPS}/statefulsets", made("StatefulSet", "apps/v1", "wool", spec=spec))
    yield LOOK
    yield READY
    yield READY
    yield READY
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    labels = {"metadata": {"labels": {"fold": "north"}}}
    yield Step("PATCH", path, {"spec": {"updateStrategy": rolling, "template": labels}}, MERGE)
    yield LOOK
    yield READY
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    yield Step("PATCH", path, {"spec": {"updateStrategy": rolling}}, MERGE)
    yield LOOK
    yield READY
    yield READY
    yield Step("PATCH", path, {"spec": {"replicas": 1}}, MERGE)
    yield LOOK


def daemons() -> Iterator[Word]:
    """A daemon set on nodes that fit, with a new template and a node that is tainted."""
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    for name in ("daemons-a", "daemons-b"):
        about = {"labels": {"space": "daemons"}}
        yield Step("POST", "/api/v1/nodes", made("Node", "v1", name, metadata=about, status=ready))
    # Both at once: which of two nodes a real controller takes first is left to chance.
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    wanted = template(nodeSelector={"space": "daemons"})
    spec = {"selector": SELECTOR, "template": wanted, "updateStrategy": rolling}
    yield Step("POST", f"{APPS}/daemonsets", made("DaemonSet", "apps/v1", "wool", spec=spec))
    yield WAIT
    yield READY
    change = {"spec": {"template": {"metadata": {"labels": {"fold": "north"}}}}}
    yield Step("PATCH", f"{APPS}/daemonsets/wool", change, MERGE)
    yield WAIT
    yield READY
    yield WAIT
    yield READY
    yield WAIT
    taint = {"spec": {"taints": [{"key": "mud", "effect": "NoSchedule"}]}}
    yield Step("PATCH", "/api/v1/nodes/daemons-a", taint, MERGE)
    yield WAIT


def jobs() -> Iterator[Word]:
    """A job that succeeds, one that fails, and one that is held back."""
    inner = {"template": {"spec": pod_spec(restartPolicy="Never")}}
    spec = {"completions": 3, "parallelism": 2, **inner}
    yield Step("POST", f"{BATCH}/jobs", made("Job", "batch/v1", "good", spec=spec))
    yield LOOK
    yield SUCCEED
    yield SUCCEED
    spec = {"backoffLimit": 0, **inner}
    yield Step("POST", f"{BATCH}/jobs", made("Job", "batch/v1", "bad", spec=spec))
    yield LOOK
    yield FAIL
    spec = {"suspend": True, "parallelism": 2, **inner}
    yield Step("POST", f"{BATCH}/jobs", made("Job", "batch/v1", "held", spec=spec))
    yield LOOK
    yield Step("PATCH", f"{BATCH}/jobs/held", {"spec": {"suspend": False}}, MERGE)
    yield LOOK
    spec = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", **inner}
    yield Step("POST", f"{BATCH}/jobs", made("Job", "batch/v1", "numbered", spec=spec))
    yield LOOK
    yield SUCCEED


def budgets() -> Iterator[Word]:
    """Budgets by number and by share, and a service in front of the pods."""
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    yield Step("POST", "/api/v1/nodes", made("Node", "v1", "budgets-a", status=ready))
    ports = [{"name": "web", "port": 80, "targetPort": 8080}]
    service = {"selector": {"app": "few"}, "ports": ports}
    yield Step("POST", f"{CORE}/services", made("Service", "v1", "wool", spec=service))
    for name, limit in (
        ("few", {"minAvailable": 2}),
        ("most", {"maxUnavailable": "34%"}),
        ("none", {"maxUnavailable": 0}),
        ("half", {"minAvailable": "50%"}),
    ):
        spec = {"selector": {"matchLabels": {"app": name}}, **limit}
        body = made("PodDisruptionBudget", "policy/v1", name, spec=spec)
        yield Step("POST", f"{POLICY}/poddisruptionbudgets", body)
    yield LOOK
    for name in ("few", "most", "half"):
        body = deployment(name, replicas=3 if name == "few" else 1)
        body["spec"]["selector"] = {"matchLabels": {"app": name}}
        body["spec"]["template"]["metadata"]["labels"] = {"app": name}
        yield Step("POST", f"{APPS}/deployments", body)
    yield LOOK
    yield BIND
    yield READY
    yield Step("PATCH", f"{APPS}/deployments/most", {"spec": {"replicas": 3}}, MERGE)
    yield LOOK


def deletions() -> Iterator[Word]:
    """Owners go with, before and without those who belong to them."""
    for name in ("early", "late", "alone"):
        body = deployment(name, replicas=1)
        body["spec"]["selector"] = {"matchLabels": {"app": name}}
        body["spec"]["template"]["metadata"]["labels"] = {"app": name}
        yield Step("POST", f"{APPS}/deployments", body)
    yield READY
    yield Step("DELETE", f"{APPS}/deployments/early", {"propagationPolicy": "Background"})
    yield LOOK
    yield Step("DELETE", f"{APPS}/deployments/late", {"propagationPolicy": "Foreground"})
    yield LOOK
    yield Step("DELETE", f"{APPS}/deployments/alone", {"propagationPolicy": "Orphan"})
    yield LOOK


def endings() -> Iterator[Word]:
    """A namespace goes, but not before what holds itself in it."""
    body = made("ConfigMap", "v1", "held", metadata={"finalizers": ["example.org/wool"]})
    yield Step("POST", f"{CORE}/configmaps", body)
    yield Step("POST", f"{APPS}/deployments", deployment("wool", replicas=1))
    yield LOOK
    yield Step("DELETE", "/api/v1/namespaces/NS")
    yield WAIT_LONG
    yield Step("PATCH", f"{CORE}/configmaps/held", {"metadata": {"finalizers": None}}, MERGE)
    yield WAIT_LONG


TOPICS: tuple[Callable[[], Iterator[Word]], ...] = (
    rollout,
    recreated,
    stateful,
    daemons,
    jobs,
    budgets,
    deletions,
    endings,
)
