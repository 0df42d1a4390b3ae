"""What happens to objects of each kind before they are stored, beside what their owner wants."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.admission.services import prepare_service
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of, written_time

_COUNTED = ("cpu", "memory")


def prepare_pod(draft: Draft) -> None:
    """A pod waits to be placed."""
    spec = draft.content["spec"]
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    draft.content["status"] = {"phase": "Pending", "qosClass": class_of_service(spec)}


def class_of_service(spec: Object) -> str:
    """Guaranteed, Burstable or BestEffort."""
    resources = part_of(spec, "resources")
    if resources.get("requests") or resources.get("limits"):
        owners = [spec]
    else:
        owners = [*entries_of(spec, "containers"), *entries_of(spec, "initContainers")]
    requested = limited = False
    guaranteed = bool(owners)
    for owner in owners:
        requests = _amounts(part_of(owner, "resources", "requests"))
        limits = _amounts(part_of(owner, "resources", "limits"))
        requested |= bool(requests)
        limited |= bool(limits)
        guaranteed &= len(limits) == len(_COUNTED) and requests in ({}, limits)
    if not requested and not limited:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def _amounts(resources: Object) -> Object:
    return {name: resources[name] for name in _COUNTED if resources.get(name) not in (None, "0", 0)}


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


Paths = tuple[tuple[str, ...], ...]
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
"""An annotation that every daemon set has."""

_GENERATED = frozenset(
    {
        ("", "pods"),
        ("apps", "daemonsets"),
        ("apps", "deployments"),
        ("apps", "replicasets"),
        ("apps", "statefulsets"),
        ("batch", "cronjobs"),
        ("batch", "jobs"),
        ("discovery.k8s.io", "endpointslices"),
        ("networking.k8s.io", "ingresses"),
        ("networking.k8s.io", "ingressclasses"),
        ("networking.k8s.io", "networkpolicies"),
        ("policy", "poddisruptionbudgets"),
        ("scheduling.k8s.io", "priorityclasses"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    }
)
"""Kinds whose changes are counted."""
_WITH_STATUS = frozenset({("", "nodes"), ("", "pods")})
"""Kinds that may be created with a status, or whose status is made anew."""
_STATUS_WRITERS = frozenset({"status"})
_NEED_VERSION = frozenset({"leases", "poddisruptionbudgets", "customresourcedefinitions"})


def needs_version(draft: Draft) -> bool:
    """Whether an update has to say which version it is about."""
    return draft.resource.is_custom or draft.resource.plural in _NEED_VERSION


def has_status(draft: Draft) -> bool:
    """Whether the status is written apart from the rest."""
    return "status" in draft.resource.subresources


def reset_fields(draft: Draft) -> Paths:
    """Fields that this way of writing leaves as they are."""
    if draft.subresource in _STATUS_WRITERS:
        paths: Paths = (("f:spec",),)
        if draft.place == ("", "pods"):
            kept = ("deletionTimestamp", "ownerReferences")
            return (*paths, *(("f:metadata", f"f:{name}") for name in kept))
        if draft.place == ("apps", "deployments"):
            return (*paths, ("f:metadata", "f:labels"))
        return paths
    return (("f:status",),) if has_status(draft) else ()


def prepare_create(draft: Draft) -> None:
    """Let a new object be as the server begins with it."""
    metadata = draft.content["metadata"]
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(name, None)
    if draft.place in _GENERATED or draft.resource.is_custom:
        metadata["generation"] = 1
    if has_status(draft) and draft.place not in _WITH_STATUS:
        if draft.resource.is_custom:
            draft.content.pop("status", None)
        else:
            draft.content["status"] = {}
    begin = _BEGINNINGS.get(draft.place)
    if begin is not None:
        begin(draft)


def prepare_update(draft: Draft) -> None:
    """Keep what this way of writing does not change, and count the change."""
    old, content = draft.old or {}, draft.content
    metadata = content["metadata"]
    for name in ("generation", "selfLink", "creationTimestamp"):
        _keep(metadata, metadata_of(old), name)
    if draft.subresource in _STATUS_WRITERS:
        _keep_all_but_status(draft)
    elif has_status(draft):
        _keep(content, old, "status")
    change = _CHANGES.get(draft.place)
    if change is not None and not draft.subresource:
        change(draft)
    counted = draft.place in _GENERATED or draft.resource.is_custom
    if counted and draft.subresource != "status" and _differs(draft):
        metadata["generation"] = metadata_of(old).get("generation", 0) + 1


def _differs(draft: Draft) -> bool:
    if draft.resource.is_custom:
        left = {n: v for n, v in draft.content.items() if n not in {"metadata", "status"}}
        right = {n: v for n, v in (draft.old or {}).items() if n not in {"metadata", "status"}}
        if not has_status(draft):
            left["status"] = draft.content.get("status")
            right["status"] = (draft.old or {}).get("status")
        return left != right
    if draft.place == ("apps", "deployments") and _annotations_of(draft.content) != _annotations_of(
        draft.old or {}
    ):
        return True
    if "spec" in draft.content or "spec" in (draft.old or {}):
        return bool(draft.content.get("spec") != (draft.old or {}).get("spec"))
    ours = {n: v for n, v in draft.content.items() if n not in {"metadata", "status"}}
    theirs = {n: v for n, v in (draft.old or {}).items() if n not in {"metadata", "status"}}
    return ours != theirs


def _annotations_of(content: Object) -> Object:
    return metadata_of(content).get("annotations") or {}


def _keep(content: Object, old: Object, name: str) -> None:
    if name in old:
        content[name] = old[name]
    else:
        content.pop(name, None)


def _keep_all_but_status(draft: Draft) -> None:
    old, content = draft.old or {}, draft.content
    for name in {*old, *content} - {"status", "metadata", "kind", "apiVersion"}:
        _keep(content, old, name)
    metadata, before = content["metadata"], metadata_of(old)
    if draft.resource.is_custom:
        kept = {*before, *metadata} - {"managedFields", "resourceVersion"}
        for name in kept:
            _keep(metadata, before, name)
    elif draft.place == ("", "pods"):
        _keep(metadata, before, "ownerReferences")
        _keep(metadata, before, "deletionTimestamp")
    elif draft.place == ("apps", "deployments"):
        _keep(metadata, before, "labels")


def _begin_namespace(draft: Draft) -> None:
    spec = draft.content.setdefault("spec", {})
    finalizers = spec.get("finalizers") or []
    if "kubernetes" not in finalizers:
        spec["finalizers"] = [*finalizers, "kubernetes"]
    draft.content["status"] = {"phase": "Active"}


def _change_namespace(draft: Draft) -> None:
    _keep(draft.content.setdefault("spec", {}), (draft.old or {}).get("spec", {}), "finalizers")


def _begin_volume(draft: Draft) -> None:
    since = written_time(draft.context.now)
    draft.content["status"] = {"phase": "Pending", "lastPhaseTransitionTime": since}


def _begin_claim(draft: Draft) -> None:
    draft.content["status"] = {"phase": "Pending"}


def _begin_budget(draft: Draft) -> None:
    draft.content["status"] = {}


def _begin_definition(draft: Draft) -> None:
    stored = [
        version.get("name", "")
        for version in draft.content.get("spec", {}).get("versions") or []
        if version.get("storage")
    ]
    draft.content["status"] = {"storedVersions": stored}


def _begin_daemon_set(draft: Draft) -> None:
    draft.content["metadata"]["annotations"][TEMPLATE_GENERATION] = "1"


def _change_daemon_set(draft: Draft) -> None:
    old = draft.old or {}
    before = (metadata_of(old).get("annotations") or {}).get(TEMPLATE_GENERATION, "1")
    changed = draft.content["spec"].get("template") != old.get("spec", {}).get("template")
    annotations = draft.content["metadata"].setdefault("annotations", {})
    annotations[TEMPLATE_GENERATION] = str(int(before) + changed)


_BEGINNINGS: dict[tuple[str, str], Callable[[Draft], None]] = {
    ("", "namespaces"): _begin_namespace,
    ("", "persistentvolumes"): _begin_volume,
    ("", "persistentvolumeclaims"): _begin_claim,
    ("", "pods"): prepare_pod,
    ("", "services"): prepare_service,
    ("apps", "daemonsets"): _begin_daemon_set,
    ("batch", "jobs"): prepare_job,
    ("policy", "poddisruptionbudgets"): _begin_budget,
    ("apiextensions.k8s.io", "customresourcedefinitions"): _begin_definition,
}
_CHANGES: dict[tuple[str, str], Callable[[Draft], None]] = {
    ("apps", "daemonsets"): _change_daemon_set,
    ("", "namespaces"): _change_namespace,
    ("", "services"): prepare_service,
}
