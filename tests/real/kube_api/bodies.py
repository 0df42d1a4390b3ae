"""Objects and paths that several topics need. `NS` stands for the namespace of a topic."""

from __future__ import annotations

from typing import Any

CORE = "/api/v1/namespaces/NS"
APPS = "/apis/apps/v1/namespaces/NS"
BATCH = "/apis/batch/v1/namespaces/NS"
POLICY = "/apis/policy/v1/namespaces/NS"


def made(kind: str, version: str, name: str, **content: Any) -> dict[str, Any]:
    metadata = {"name": name, **content.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}


def pod_spec(**more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "one", "image": "wool:1.0"}], **more}


def template(**more: Any) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": "wool"}}, "spec": pod_spec(**more)}


SELECTOR = {"matchLabels": {"app": "wool"}}


def deployment(name: str, **spec: Any) -> dict[str, Any]:
    return made(
        "Deployment", "apps/v1", name, spec={"selector": SELECTOR, "template": template(), **spec}
    )
