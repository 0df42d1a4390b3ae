"""Creating, reading, updating and deleting, and all that is refused."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import CORE, made
from tests.real.kube_api.talking import MERGE, Step, asked

METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
METADATA_LIST = METADATA.replace("Metadata;", "MetadataList;")


def basics() -> Iterator[Step]:
    maps = f"{CORE}/configmaps"
    yield Step("POST", maps, made("ConfigMap", "v1", "a", data={"a": "b"}))
    yield Step("POST", maps, made("ConfigMap", "v1", "a", data={"a": "b"}))
    yield Step("GET", f"{maps}/a")
    yield Step("GET", f"{maps}/nope")
    yield Step("GET", maps)
    yield Step("PUT", f"{maps}/a", made("ConfigMap", "v1", "a", data={"a": "c", "d": "e"}))
    yield Step("PUT", f"{maps}/a", made("ConfigMap", "v1", "b"))
    yield Step("PUT", f"{maps}/a", {"data": {}})
    yield Step("PUT", f"{maps}/nope", made("ConfigMap", "v1", "nope"))
    yield Step("PUT", f"{maps}/a", made("ConfigMap", "v1", "a", metadata={"resourceVersion": "1"}))
    yield Step("PUT", f"{maps}/a", made("ConfigMap", "v1", "a", metadata={"uid": "1"}))
    yield Step("POST", maps, {"metadata": {"generateName": "made-"}, "data": {"a": "b"}})
    yield Step("POST", maps, {})
    yield Step("POST", maps, made("ConfigMap", "v1", "X_"))
    yield Step("POST", maps, made("ConfigMap", "v1", "x" * 300))
    yield Step("POST", maps, made("ConfigMap", "v1", "x", metadata={"namespace": "other"}))
    yield Step("POST", maps, made("Secret", "v1", "x"))
    yield Step("POST", maps, made("ConfigMap", "v2", "x"))
    yield Step("POST", maps, made("Foo", "v1", "x"))
    yield Step("POST", maps, "xx")
    yield Step("POST", maps, "[]")
    yield Step("POST", maps, "")
    yield Step("POST", maps, "{}", kind="application/foo")
    yield Step("POST", maps, "metadata:\n  name: yaml\ndata:\n  a: b\n", kind="application/yaml")
    yield Step("GET", maps, headers={"Accept": "text/html"})
    yield Step("GET", maps, headers={"Accept": "text/html, application/json;q=0.5"})
    yield Step("POST", "/api/v1/namespaces/missing/configmaps", made("ConfigMap", "v1", "x"))
    yield Step("POST", maps, made("ConfigMap", "v1", "x", data={"a": 1}))
    unknown = made("ConfigMap", "v1", "unknown", foo=1, data={"a": "b"})
    yield Step("POST", asked(maps, fieldValidation="Strict"), unknown)
    yield Step("POST", asked(maps, fieldValidation="Ignore", dryRun="All"), unknown)
    yield Step("POST", asked(maps, dryRun="All"), unknown)
    yield Step("POST", asked(maps, dryRun="foo"), unknown)
    yield Step("POST", asked(maps, fieldValidation="Foo"), unknown)
    yield Step("GET", f"{maps}/unknown")
    yield Step("GET", asked(maps, limit="x"))
    yield Step("GET", asked(maps, limit="1"))
    yield Step("GET", asked(maps, resourceVersion="99999999"))
    yield Step("GET", asked(maps, resourceVersion="0"))
    yield Step("GET", asked(maps, resourceVersion="0", limit="1"))
    yield Step("GET", asked(maps, resourceVersionMatch="Exact"))
    for query in (
        {"sendInitialEvents": "true"},
        {"resourceVersion": "abc"},
        {"resourceVersion": "1", "resourceVersionMatch": "Foo", "continue": "x"},
        {"resourceVersion": "0", "resourceVersionMatch": "Exact"},
        {"watch": "1", "sendInitialEvents": "true"},
        {"watch": "1", "sendInitialEvents": "true", "resourceVersionMatch": "Exact"},
        {"watch": "1", "resourceVersionMatch": "NotOlderThan"},
        {"watch": "1", "resourceVersion": "abc"},
        {"watch": "1", "timeoutSeconds": "x"},
    ):
        yield Step("GET", asked(maps, **query))
    yield Step("GET", asked(f"{maps}/a", resourceVersion="abc"))
    yield Step("GET", asked(maps, fieldSelector="metadata.name=a"))
    yield Step("GET", asked(maps, fieldSelector="metadata.name!=a"))
    yield Step("GET", asked(maps, fieldSelector="data=a"))
    yield Step("GET", asked(maps, fieldSelector="data"))
    yield Step("GET", asked(maps, labelSelector="a b"))
    yield Step("GET", asked(maps, labelSelector="a in (b"))
    yield Step("GET", asked(maps, labelSelector="a,"))
    yield Step("GET", asked(maps, labelSelector="!a"))
    yield Step("GET", "/api/v1/foos")
    yield Step("GET", "/apis/foo/v1/bars")
    yield Step("GET", "/api/v1/configmaps/a")
    yield Step("POST", "/api/v1/configmaps", made("ConfigMap", "v1", "x"))
    yield Step("PUT", maps, {})
    yield Step("POST", f"{maps}/a", {})
    yield Step("GET", f"{maps}/a/status")
    yield Step("GET", f"{maps}/a", headers={"Accept": METADATA})
    yield Step("GET", maps, headers={"Accept": METADATA_LIST})
    yield Step("DELETE", f"{maps}/a", {"preconditions": {"uid": "x"}})
    yield Step("DELETE", f"{maps}/a", {"preconditions": {"resourceVersion": "1"}})
    yield Step("DELETE", f"{maps}/a", {"propagationPolicy": "Foo"})
    yield Step("DELETE", f"{maps}/a", {"propagationPolicy": "Orphan", "orphanDependents": True})
    yield Step("DELETE", asked(f"{maps}/a", dryRun="All"))
    yield Step("DELETE", f"{maps}/a", {"propagationPolicy": "Foreground"})
    yield Step("DELETE", f"{maps}/a")
    yield Step("PATCH", f"{maps}/a", {"metadata": {"finalizers": None}}, MERGE)
    yield Step("GET", f"{maps}/a")
    yield Step("DELETE", f"{maps}/a")
    yield Step("DELETE", maps)
    yield Step("GET", maps)
