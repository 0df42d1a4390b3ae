"""Service accounts of pods, and the volume with what they need to speak to the API."""

from __future__ import annotations

from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.failures import forbidden
from stockman_lab.kube.objects import Object, entries_of, part_of

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
    account = draft.around.found("serviceaccounts", draft.namespace, name)
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
        spec["volumes"] = [*volumes, {"name": name, "projected": _projected()}]


def random_suffix(draft: Draft) -> str:
    """Five letters, as the server appends them to names."""
    dice = draft.around.dice
    return "".join(_LETTERS[dice.below(len(_LETTERS))] for _ in range(5))


def _projected() -> Object:
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
