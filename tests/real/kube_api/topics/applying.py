"""Server-side apply: owners, conflicts and what is taken away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.kube_api.bodies import APPS, CORE, deployment, made
from tests.real.kube_api.talking import APPLY, MERGE, Step, asked


def applying() -> Iterator[Step]:
    maps = f"{CORE}/configmaps"
    one = asked(f"{maps}/a", fieldManager="x")

    def wanted(**content: Any) -> dict[str, Any]:
        return made("ConfigMap", "v1", "a", **content)

    yield Step("PATCH", f"{maps}/a", wanted(), APPLY)
    yield Step("PATCH", one, wanted(data={"a": "1", "b": "2"}), APPLY)
    yield Step("PATCH", one, wanted(data={"a": "1", "b": "2"}), APPLY)
    yield Step("PATCH", one, wanted(data={"a": "1"}), APPLY)
    other = asked(f"{maps}/a", fieldManager="y")
    yield Step("PATCH", other, wanted(data={"a": "1", "c": "3"}), APPLY)
    yield Step("PATCH", other, wanted(data={"a": "2"}), APPLY)
    yield Step(
        "PATCH", asked(f"{maps}/a", fieldManager="y", force="true"), wanted(data={"a": "2"}), APPLY
    )
    yield Step("PATCH", f"{maps}/a", {"data": {"a": "3", "m": "n"}}, MERGE)
    yield Step("PATCH", one, wanted(data={"a": "4", "m": "o"}), APPLY)
    yield Step(
        "PATCH", one, wanted(data={"a": "4", "m": "o"}, metadata={"labels": {"l": "m"}}), APPLY
    )
    yield Step("PATCH", one, wanted(foo=1), APPLY)
    yield Step("PATCH", one, wanted(data=1), APPLY)
    yield Step("PATCH", one, made("ConfigMap", "v2", "a"), APPLY)
    yield Step("PATCH", one, made("Secret", "v1", "a"), APPLY)
    yield Step("PATCH", one, made("ConfigMap", "v1", "b"), APPLY)
    yield Step("PATCH", one, wanted(metadata={"managedFields": [{}]}), APPLY)
    yield Step("PATCH", one, "apiVersion: v1\nkind: ConfigMap\ndata: {y: z}\n", APPLY)
    yield Step("PATCH", one, wanted(), APPLY)
    yield Step("PATCH", f"{maps}/a", {"metadata": {"managedFields": [{}]}}, MERGE)
    yield Step("PATCH", f"{maps}/a", {"data": {"untracked": "1"}}, MERGE)
    yield Step("PATCH", one, wanted(data={"n": "1"}), APPLY)
    web = asked(f"{APPS}/deployments/web", fieldManager="x")
    yield Step("PATCH", web, deployment("web", replicas=2), APPLY)
    yield Step("PATCH", asked(f"{APPS}/deployments/web/scale"), {"spec": {"replicas": 5}}, MERGE)
    yield Step("GET", f"{APPS}/deployments/web")
    yield Step("PATCH", web, deployment("web", replicas=2), APPLY)
    yield Step("PATCH", web, deployment("web"), APPLY)
    changed = deployment("web")
    container = changed["spec"]["template"]["spec"]["containers"][0]
    container["ports"] = [
        {"containerPort": 80, "name": "http"},
        {"containerPort": 80, "protocol": "UDP", "name": "quic"},
    ]
    container["env"] = [{"name": "A", "value": "1"}]
    yield Step("PATCH", web, changed, APPLY)
    container["image"] = "wool:3.0"
    container["env"] = [{"name": "B", "value": "1"}]
    yield Step("PATCH", asked(f"{APPS}/deployments/web", fieldManager="z"), changed, APPLY)
    yield Step(
        "PATCH", asked(f"{APPS}/deployments/web", fieldManager="z", force="true"), changed, APPLY
    )
    container["ports"] = []
    yield Step("PATCH", asked(f"{APPS}/deployments/web", fieldManager="z"), changed, APPLY)
    status = {"status": {"replicas": 1, "observedGeneration": 1}}
    yield Step("PATCH", f"{APPS}/deployments/web/status", status, MERGE)
    applied = made("Deployment", "apps/v1", "web", status={"readyReplicas": 1})
    yield Step("PATCH", asked(f"{APPS}/deployments/web/status", fieldManager="s"), applied, APPLY)
    yield Step("PATCH", asked(f"{APPS}/deployments/web", fieldManager="t"), applied, APPLY)


_TEXTS = (
    *("not base64!", "bm90", "bm9", "a-b", "bm90bm9", "bm90bm90b"),
    *("b===", "bm=0", "bm=", "bm9=b", "bm90\n"),
)


def applying_bytes() -> Iterator[Step]:
    secret = asked(f"{CORE}/secrets/s", fieldManager="x")

    def wanted(**content: Any) -> dict[str, Any]:
        return made("Secret", "v1", "s", **content)

    for text in (
        "not base64!",
        "bm90",
        "bm9",
        "a-b",
        "bm90bm9",
        "bm90bm90b",
        "b===",
        "bm=0",
        "bm=",
        "bm9=b",
        "bm90\n",
    ):
        yield Step("PATCH", secret, wanted(data={"x": text}), APPLY)
        yield Step("POST", f"{CORE}/secrets", made("Secret", "v1", "t", data={"x": text}))
        yield Step("DELETE", f"{CORE}/secrets/t")
    yield Step("PATCH", secret, wanted(stringData={"x": "y"}, data={"x": "?"}), APPLY)
    yield Step("PATCH", secret, wanted(stringData={"x": "y"}), APPLY)
    workload = asked(f"{APPS}/deployments/d", fieldManager="x")
    one = deployment("d")
    one["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "abc"}}
    yield Step("PATCH", workload, one, APPLY)
