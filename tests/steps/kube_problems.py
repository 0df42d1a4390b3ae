"""Problems of the Kubernetes stage, made as their pages show them."""

from __future__ import annotations

from collections.abc import Callable

from stockman.model.problem import Problem
from stockman.ports.kubernetes.kinds import PODS, SECRETS, Ref
from stockman.steps import kube_problems as problems
from stockman.steps.access_restart import not_restarted
from stockman.steps.kube_kinds import DEFINITIONS, KUSTOMIZATIONS

_JOB = (
    "jobs.batch stockman-install-cilium in kube-system, pod stockman-install-cilium-x7k2p on cp-1"
)
_SECRET = Ref(kind=SECRETS, name="sops-age", namespace="flux-system")

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "kube.bare-pods": lambda: problems.bare_pods("work-1", ["default/shell"]),
    "kube.definitions": lambda: problems.no_definitions("gateway-api", "v1.2.0", ["v1.6.1"]),
    "kube.drain-blocked": lambda: problems.drain_blocked(
        "work-1", 600.0, ["web/shop-0 is kept by budget shop"]
    ),
    "kube.foreign": lambda: problems.secret_differs(_SECRET, ["kubectl"], ["age.agekey"]),
    "kube.install-failed": lambda: problems.install_failed(
        "cilium",
        _JOB,
        "BackoffLimitExceeded: Job has reached the specified backoff limit",
        ["Error: context deadline exceeded"],
    ),
    "kube.not-restarted": lambda: not_restarted(
        Ref(kind=PODS, name="proxmox-csi-controller-7d9", namespace="csi-proxmox"), 300.0, 0, 1
    ),
    "kube.not-reconciled": lambda: problems.not_handled(
        Ref(kind=KUSTOMIZATIONS, name="cluster-apps", namespace="flux-system"),
        300.0,
        "it is suspended",
    ),
    "kube.uncordoned": lambda: problems.opened_again("work-1"),
    "kube.not-served": lambda: problems.not_served(
        Ref(kind=DEFINITIONS, name="gateways.gateway.networking.k8s.io"),
        120.0,
        'NamesAccepted is not true: "gateways" is already in use',
    ),
    "kube.trial-failed": lambda: problems.trial_failed(
        "coredns", 300.0, ["the command succeeded (it says nothing yet)"]
    ),
    "kube.unknown": lambda: problems.unknown("the Kubernetes API gives no answer"),
    "kube.unpushed": lambda: problems.unpushed(
        "main", "not committed: kubernetes/apps/kube-system/proxmox-ccm/app/secret.sops.yaml"
    ),
}
"""By code."""
