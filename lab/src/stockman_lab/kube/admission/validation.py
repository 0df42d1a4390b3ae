"""Validation: what is wrong with objects, by kind, in the words of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stockman_lab.kube.admission.checks import (
    cluster,
    definitions,
    others,
    pods,
    services,
    workloads,
)
from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.admission.names import label_causes, metadata_causes, metadata_update_causes
from stockman_lab.kube.admission.signing_requests import request_status_causes
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import metadata_of
from stockman_lab.kube.schema.validating import violations

Check = Callable[[Draft], Iterator[Cause]]
_RBAC = "rbac.authorization.k8s.io"
_CREATED: dict[tuple[str, str], Check] = {
    ("", "configmaps"): others.config_map_causes,
    ("", "nodes"): cluster.node_causes,
    ("", "persistentvolumeclaims"): others.claim_causes,
    ("", "persistentvolumes"): others.volume_causes,
    ("", "pods"): pods.pod_causes,
    ("", "secrets"): others.secret_causes,
    ("", "services"): services.service_causes,
    ("apps", "daemonsets"): workloads.daemon_set_causes,
    ("apps", "deployments"): workloads.deployment_causes,
    ("apps", "replicasets"): workloads.replica_set_causes,
    ("apps", "statefulsets"): workloads.stateful_set_causes,
    ("autoscaling", "horizontalpodautoscalers"): cluster.autoscaler_causes,
    ("batch", "cronjobs"): workloads.cron_job_causes,
    ("batch", "jobs"): workloads.job_causes,
    ("coordination.k8s.io", "leases"): cluster.lease_causes,
    ("networking.k8s.io", "ingresses"): cluster.ingress_causes,
    ("policy", "poddisruptionbudgets"): others.budget_causes,
    ("scheduling.k8s.io", "priorityclasses"): cluster.priority_class_causes,
    ("storage.k8s.io", "storageclasses"): cluster.storage_class_causes,
    (_RBAC, "clusterroles"): cluster.role_causes,
    (_RBAC, "roles"): cluster.role_causes,
    ("apiextensions.k8s.io", "customresourcedefinitions"): definitions.definition_causes,
    (_RBAC, "clusterrolebindings"): cluster.role_binding_causes,
    (_RBAC, "rolebindings"): cluster.role_binding_causes,
}
_UPDATED: dict[tuple[str, str], tuple[Check, ...]] = {
    ("", "configmaps"): (others.config_map_update_causes,),
    ("", "nodes"): (cluster.node_causes,),
    ("", "persistentvolumeclaims"): (others.claim_update_causes,),
    ("", "pods"): (pods.pod_update_causes,),
    ("", "secrets"): (others.secret_update_causes,),
    ("", "services"): (services.service_update_causes,),
    ("apps", "daemonsets"): (workloads.daemon_set_causes, workloads.selector_update_causes),
    ("apps", "deployments"): (workloads.deployment_causes, workloads.selector_update_causes),
    ("apps", "replicasets"): (workloads.replica_set_causes, workloads.selector_update_causes),
    ("apps", "statefulsets"): (
        workloads.stateful_set_causes,
        workloads.stateful_set_update_causes,
    ),
    ("batch", "cronjobs"): (workloads.cron_job_causes,),
    ("batch", "jobs"): (workloads.job_causes, workloads.job_update_causes),
    ("coordination.k8s.io", "leases"): (cluster.lease_causes,),
    ("networking.k8s.io", "ingresses"): (cluster.ingress_causes,),
    ("policy", "poddisruptionbudgets"): (others.budget_causes,),
    ("storage.k8s.io", "storageclasses"): (cluster.storage_class_update_causes,),
    ("apiextensions.k8s.io", "customresourcedefinitions"): (definitions.definition_causes,),
    (_RBAC, "clusterroles"): (cluster.role_causes,),
    (_RBAC, "roles"): (cluster.role_causes,),
    (_RBAC, "clusterrolebindings"): (others.role_binding_update_causes,),
    (_RBAC, "rolebindings"): (others.role_binding_update_causes,),
}
_WHOLE_AGAIN = frozenset(
    {
        ("", "configmaps"),
        ("", "pods"),
        ("", "secrets"),
        *((_RBAC, name) for name in ("roles", "clusterroles")),
        *((_RBAC, name) for name in ("rolebindings", "clusterrolebindings")),
    }
)
"""Kinds whose metadata is looked at once more as that of a new object."""


def validate_create(draft: Draft) -> list[Cause]:
    """What is wrong with a new object."""
    causes = list(metadata_causes(draft))
    causes += _violations(draft)
    check = _CREATED.get(draft.place)
    if check is not None:
        causes += check(draft)
    return causes


def _violations(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a custom object by its schema."""
    if draft.shape is not None and draft.resource.is_custom:
        for violation in violations(draft.shape, draft.content):
            yield Cause(violation.reason, violation.message, violation.field)
        yield from definitions.scale_causes(draft)


def validate_update(draft: Draft) -> list[Cause]:
    """What is wrong with a change. Metadata is looked at for all kinds, and for each anew."""
    labels = list(label_causes(metadata_of(draft.content).get("labels"), "metadata.labels"))
    causes = [*labels, *metadata_update_causes(draft), *metadata_update_causes(draft)]
    if draft.place in _WHOLE_AGAIN:
        causes += labels
    causes += _violations(draft)
    if draft.place == ("certificates.k8s.io", "certificatesigningrequests"):
        causes += request_status_causes(draft)
    if draft.subresource != "status":
        for check in _UPDATED.get(draft.place, ()):
            causes += check(draft)
    return causes
