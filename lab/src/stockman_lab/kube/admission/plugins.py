"""Plugins of admission that are on by default, as far as they change or refuse something."""

from __future__ import annotations

from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.failures import Cause, Named, forbidden, not_found
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of
from stockman_lab.kube.schema.quantity import amount

_CRITICAL = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
_TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_TOLERATED_SECONDS = 300
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_IMMORTAL = frozenset({"default", "kube-system", "kube-public"})
_NAMESPACES = Named("namespaces", "", "Namespace")


def admit_create(draft: Draft) -> None:
    """Change or refuse a new object."""
    need_namespace(draft)
    match draft.place:
        case ("", "pods"):
            _admit_pod(draft)
        case ("", "persistentvolumeclaims"):
            _protect(draft, "kubernetes.io/pvc-protection")
            _give_class(draft)
        case ("", "persistentvolumes"):
            _protect(draft, "kubernetes.io/pv-protection")
        case ("", "nodes"):
            _taint(draft)


def admit_update(draft: Draft) -> None:
    """Refuse a change."""
    if draft.place == ("", "persistentvolumeclaims") and not draft.subresource:
        _admit_growth(draft)


def _admit_growth(draft: Draft) -> None:
    """Claims grow where a class of storage made their volume and allows it."""
    new, old = draft.content, draft.old or {}
    desired, had = (
        part_of(item, "spec", "resources", "requests").get("storage") for item in (new, old)
    )
    if part_of(old, "status").get("phase") != "Bound" or desired == had or not (desired and had):
        return
    if amount(desired) <= amount(had):
        return
    name = str(part_of(new, "spec").get("storageClassName", ""))
    storage_class = draft.context.found("storageclasses", "", name) if name else None
    if not (storage_class or {}).get("allowVolumeExpansion"):
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions"
            " the pvc must support resize"
        )
        raise forbidden(draft.named, draft.name, why)


def need_namespace(draft: Draft) -> None:
    """Refuse objects in namespaces that are not there or go away."""
    name = draft.namespace
    if not name or not draft.resource.namespaced:
        return
    result = draft.context.found("namespaces", "", name)
    if result is None:
        raise not_found(_NAMESPACES, name)
    if metadata_of(result).get("deletionTimestamp"):
        why = f"unable to create new content in namespace {name} because it is being terminated"
        cause = Cause(
            "NamespaceTerminating", f"namespace {name} is being terminated", "metadata.namespace"
        )
        raise forbidden(draft.named, draft.name, why, [cause])


def refuse_immortal(plural: str, name: str) -> None:
    """Some namespaces cannot be deleted."""
    if plural == "namespaces" and name in _IMMORTAL:
        raise forbidden(_NAMESPACES, name, "this namespace may not be deleted")


def _protect(draft: Draft, finalizer: str) -> None:
    metadata = draft.content["metadata"]
    finalizers = metadata.get("finalizers") or []
    if finalizer not in finalizers:
        metadata["finalizers"] = [*finalizers, finalizer]


def _give_class(draft: Draft) -> None:
    spec = draft.content.setdefault("spec", {})
    beta = part_of(draft.content, "metadata", "annotations")
    if "storageClassName" in spec or "volume.beta.kubernetes.io/storage-class" in beta:
        return
    name = _newest_default(draft.context.listed("storageclasses"), _DEFAULT_CLASS)
    if name:
        spec["storageClassName"] = name


def _newest_default(classes: list[Object], annotation: str) -> str:
    chosen = [
        metadata_of(class_)
        for class_ in classes
        if part_of(class_, "metadata", "annotations").get(annotation) == "true"
    ]
    chosen.sort(key=lambda one: str(one["name"]))
    chosen.sort(key=lambda item: str(item.get("creationTimestamp", "")), reverse=True)
    return str(chosen[0]["name"]) if chosen else ""


def _taint(draft: Draft) -> None:
    """A new node is not ready, so nothing is placed on it."""
    spec = draft.content.setdefault("spec", {})
    taints = spec.get("taints") or []
    key, effect = "node.kubernetes.io/not-ready", "NoSchedule"
    if not any(taint.get("key") == key and taint.get("effect") == effect for taint in taints):
        spec["taints"] = [*taints, {"key": key, "effect": effect}]


def _admit_pod(draft: Draft) -> None:
    if draft.context.demands_accounts:
        give_account(draft)
    _give_priority(draft)
    _tolerate(draft.content["spec"])


def _give_priority(draft: Draft) -> None:
    spec = draft.content["spec"]
    name = spec.get("priorityClassName", "")
    priority = spec.get("priority")
    if not name:
        chosen = [
            priority_class
            for priority_class in draft.context.listed("priorityclasses")
            if priority_class.get("globalDefault")
        ]
        value, policy = 0, "PreemptLowerPriority"
        if chosen:
            value, policy = chosen[0]["value"], chosen[0].get("preemptionPolicy", policy)
            spec["priorityClassName"] = metadata_of(chosen[0])["name"]
    else:
        priority_class = draft.context.found("priorityclasses", "", name)
        if priority_class is None and name not in _CRITICAL:
            why = f"no PriorityClass with name {name} was found"
            raise forbidden(draft.named, draft.name, why)
        value = _CRITICAL[name] if priority_class is None else priority_class["value"]
        policy = (priority_class or {}).get("preemptionPolicy", "PreemptLowerPriority")
    if priority is not None and priority != value:
        why = (
            f"the integer value of priority ({priority}) must not be provided in pod spec; priority"
            f" admission controller computed {value} from the given PriorityClass name"
        )
        raise forbidden(draft.named, draft.name, why)
    spec["priority"] = value
    spec.setdefault("preemptionPolicy", policy)


def _tolerate(spec: Object) -> None:
    tolerations = entries_of(spec, "tolerations")
    added = [
        {
            "key": key,
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": _TOLERATED_SECONDS,
        }
        for key in _TOLERATED
        if not any(_tolerates(toleration, key) for toleration in tolerations)
    ]
    if added:
        spec["tolerations"] = [*tolerations, *added]


def _tolerates(toleration: Object, key: str) -> bool:
    return toleration.get("key", "") in {"", key} and toleration.get("effect", "") in {
        "",
        "NoExecute",
    }


_MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_PREFIX = "kube-api-access-"
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_TOKEN_SECONDS = 3607
_MIRROR = "kubernetes.io/config.mirror"


def give_account(draft: Draft) -> None:
    """Let a pod have an account that is there, with its token."""
    spec = draft.content["spec"]
    if _MIRROR in part_of(draft.content, "metadata", "annotations"):
        return
    name = spec["serviceAccountName"] = spec.get("serviceAccountName") or "default"
    spec["serviceAccount"] = name
    account = draft.context.found("serviceaccounts", draft.namespace, name)
    if account is None:
        why = (
            f"error looking up service account {draft.namespace}/{name}: serviceaccount"
            f' "{name}" not found'
        )
        raise forbidden(draft.named, draft.name, why)
    automount_service_account_token = spec.get("automountServiceAccountToken")
    if automount_service_account_token is None:
        automount_service_account_token = account.get("automountServiceAccountToken", True)
    if automount_service_account_token:
        _mount(draft, spec)
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = account["imagePullSecrets"]


def _mount(draft: Draft, spec: Object) -> None:
    volumes = entries_of(spec, "volumes")
    named = [volume["name"] for volume in volumes if volume.get("name", "").startswith(_PREFIX)]
    name = named[0] if named else f"{_PREFIX}{random_suffix(draft)}"
    mounted = False
    for kind in ("initContainers", "containers"):
        for container in entries_of(spec, kind):
            mounts = entries_of(container, "volumeMounts")
            if all(one.get("mountPath") != _MOUNT for one in mounts):
                mount = {"name": name, "readOnly": True, "mountPath": _MOUNT}
                container["volumeMounts"] = [*mounts, mount]
                mounted = True
    if mounted and not named:
        spec["volumes"] = [*volumes, {"name": name, "projected": _account_volume()}]


def random_suffix(draft: Draft) -> str:
    """Five letters, as the server appends them to names."""
    dice = draft.context.dice
    return "".join(_LETTERS[dice.below(len(_LETTERS))] for _ in range(5))


def _account_volume() -> Object:
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
            {
                "configMap": {
                    "name": "kube-root-ca.crt",
                    "items": [{"key": "ca.crt", "path": "ca.crt"}],
                }
            },
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
        ],
        "defaultMode": 420,
    }
