"""Whose an object is: the marks by which Helm knows its own."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, part_of

MANAGED = "app.kubernetes.io/managed-by"
NAME = "meta.helm.sh/release-name"
NAMESPACE = "meta.helm.sh/release-namespace"


def own(content: Object, release: str, namespace: str, labels: Object) -> None:
    """Mark an object as one of a release."""
    about = content.setdefault("metadata", {})
    about["labels"] = {**(about.get("labels") or {}), **labels, MANAGED: "Helm"}
    about["annotations"] = {
        **(about.get("annotations") or {}),
        NAME: release,
        NAMESPACE: namespace,
    }


def why_foreign(content: Object, release: str, namespace: str) -> str:
    """What keeps an object from being one of a release; empty: nothing."""
    labels = part_of(content, "metadata", "labels")
    annotations = part_of(content, "metadata", "annotations")
    found = [
        _wrong("label", labels, MANAGED, "Helm"),
        _wrong("annotation", annotations, NAME, release),
        _wrong("annotation", annotations, NAMESPACE, namespace),
    ]
    return "; ".join(one for one in found if one)


def _wrong(kind: str, marks: Object, name: str, wanted: str) -> str:
    if name not in marks:
        return f'{kind} validation error: missing key "{name}": must be set to "{wanted}"'
    if marks[name] != wanted:
        return (
            f'{kind} validation error: key "{name}" must equal "{wanted}": current value is'
            f' "{marks[name]}"'
        )
    return ""
