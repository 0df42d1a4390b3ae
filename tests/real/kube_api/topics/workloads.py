"""Whatever makes pods from a template."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import APPS, BATCH, SELECTOR, deployment, made, pod_spec, template
from tests.real.kube_api.talking import MERGE, Step


def workloads() -> Iterator[Step]:
    yield Step("POST", f"{APPS}/deployments", deployment("web"))
    yield Step("POST", f"{APPS}/deployments", made("Deployment", "apps/v1", "bad", spec={}))
    yield Step("POST", f"{APPS}/deployments", made("Deployment", "apps/v1", "bad"))
    wrong = deployment("bad", replicas=-1)
    wrong["spec"]["template"]["spec"]["containers"][0].pop("image")
    yield Step("POST", f"{APPS}/deployments", wrong)
    mismatched = deployment("bad", selector={"matchLabels": {"app": "other"}})
    yield Step("POST", f"{APPS}/deployments", mismatched)
    yield Step(
        "POST", f"{APPS}/deployments", deployment("bad", template=template(restartPolicy="Never"))
    )
    yield Step(
        "POST",
        f"{APPS}/replicasets",
        made("ReplicaSet", "apps/v1", "set", spec={"selector": SELECTOR, "template": template()}),
    )
    yield Step(
        "POST",
        f"{APPS}/daemonsets",
        made("DaemonSet", "apps/v1", "each", spec={"selector": SELECTOR, "template": template()}),
    )
    claims = [
        {
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
    ]
    yield Step(
        "POST",
        f"{APPS}/statefulsets",
        made(
            "StatefulSet",
            "apps/v1",
            "db",
            spec={
                "serviceName": "db",
                "selector": SELECTOR,
                "template": template(),
                "volumeClaimTemplates": claims,
            },
        ),
    )
    job = {"template": {"spec": pod_spec(restartPolicy="Never")}}
    yield Step("POST", f"{BATCH}/jobs", made("Job", "batch/v1", "once", spec=job))
    yield Step(
        "POST",
        f"{BATCH}/jobs",
        made("Job", "batch/v1", "bad", spec={"template": {"spec": pod_spec()}}),
    )
    cron = {"schedule": "* * * * *", "jobTemplate": {"spec": job}}
    yield Step("POST", f"{BATCH}/cronjobs", made("CronJob", "batch/v1", "often", spec=cron))
    yield Step(
        "POST",
        f"{BATCH}/cronjobs",
        made("CronJob", "batch/v1", "bad", spec={**cron, "schedule": "x"}),
    )
    yield Step("GET", f"{APPS}/deployments/web/scale")
    yield Step(
        "PUT",
        f"{APPS}/deployments/web/scale",
        {"metadata": {"name": "web", "namespace": "NS"}, "spec": {"replicas": 4}},
    )
    yield Step("PATCH", f"{APPS}/deployments/web", {"spec": {"replicas": 7}}, MERGE)
    yield Step("PATCH", f"{APPS}/deployments/web", {"metadata": {"labels": {"x": "y"}}}, MERGE)
    yield Step(
        "PATCH",
        f"{APPS}/deployments/web/status",
        {"status": {"replicas": 7, "observedGeneration": 3}},
        MERGE,
    )
    yield Step("PATCH", f"{APPS}/deployments/web/status", {"spec": {"replicas": 9}}, MERGE)
    yield Step("GET", f"{APPS}/deployments/web")
    yield Step("DELETE", f"{APPS}/deployments/web", {"propagationPolicy": "Foreground"})
    yield Step("GET", f"{APPS}/deployments/web")
    yield Step("DELETE", f"{APPS}/replicasets/set", {"propagationPolicy": "Orphan"})
    yield Step("DELETE", f"{APPS}/daemonsets/each")
    yield Step("DELETE", f"{BATCH}/jobs/once")
