"""Jobs: their pods are found by labels that the server makes."""

from __future__ import annotations

from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.objects import Object, metadata_of

_PREFIX = "batch.kubernetes.io/"
_OWN = frozenset({f"{_PREFIX}controller-uid", f"{_PREFIX}job-name", "controller-uid", "job-name"})


def _before(labels: Object) -> Object:
    """Labels of a template as its owner gave them."""
    return {name: label for name, label in labels.items() if name not in _OWN}


def prepare_job(draft: Draft) -> None:
    """Give a new job its selector."""
    spec = draft.content["spec"]
    if spec.get("manualSelector"):
        return
    uid, name = metadata_of(draft.content)["uid"], draft.name
    metadata = spec["template"].setdefault("metadata", {})
    labels = metadata.get("labels")
    labels = metadata["labels"] = labels if isinstance(labels, dict) else {}
    labels[f"{_PREFIX}controller-uid"] = uid
    labels[f"{_PREFIX}job-name"] = name
    labels["controller-uid"] = uid
    labels["job-name"] = name
    own = draft.content["metadata"]
    if not own.get("labels") or own["labels"] == _before(labels):
        own["labels"] = dict(labels)
    selector = spec.get("selector")
    selector = spec["selector"] = selector if isinstance(selector, dict) else {}
    selector.setdefault("matchLabels", {})[f"{_PREFIX}controller-uid"] = uid
