"""Stories of clusters with Kubernetes in them: health, upgrades that drain, new releases of it."""

from __future__ import annotations

import base64
import re
from typing import Any

from tests.real.talos.clusters import Whole
from tests.real.talos.served import Answer, refused, succeeded, together
from tests.real.talos.stories.power import installer

_CHECK = re.compile(r"waiting for (.*): (OK|SKIP)$", re.MULTILINE)
_LATE_CHECKS = (
    "all k8s nodes to report ready",
    "kube-proxy to report ready",
    "coredns to report ready",
)
_CHECKS = (
    "etcd to be healthy",
    "etcd members to be consistent across nodes",
    "etcd members to be control plane nodes",
    "apid to be ready",
    "all nodes memory sizes",
    "all nodes disk sizes",
    "no diagnostics",
    "kubelet to be healthy",
    "all nodes to finish boot sequence",
    "all k8s nodes to report",
    "all control plane static pods to be running",
    "all control plane components to be ready",
    *_LATE_CHECKS,
    "all k8s nodes to report schedulable",
)
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: example/web:1}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  minAvailable: 3
  selector: {matchLabels: {app: web}}
"""
ACCOUNTS = """\
apiVersion: talos.dev/v1alpha1
kind: ServiceAccount
metadata: {name: good, namespace: default}
spec: {roles: [os:reader]}
---
apiVersion: talos.dev/v1alpha1
kind: ServiceAccount
metadata: {name: bold, namespace: default}
spec: {roles: [os:admin]}
---
apiVersion: talos.dev/v1alpha1
kind: ServiceAccount
metadata: {name: far, namespace: kube-public}
spec: {roles: [os:reader]}
"""


def health_is_whole(lab: Whole, client: str, skipped: set[str]) -> None:
    """All checks end well, carried out by a machine and by the client itself."""
    ask = lab.talosctl(client)
    answers = together(
        lambda: ask("health", "--wait-timeout", "40s"),
        lambda: ask("health", "--server=false", "--wait-timeout", "40s"),
    )
    for answer in answers:
        told = dict(_CHECK.findall(succeeded(answer).stderr))
        assert tuple(told) == _CHECKS, answer.stderr
        assert {name for name, how in told.items() if how == "SKIP"} == skipped, told


def skipped_without_own_network(version: str) -> set[str]:
    """What does not apply where Talos brings neither network nor proxy nor DNS."""
    if version.startswith(("1.11", "1.12")):
        return {"kube-proxy to report ready", "coredns to report ready"}
    return set(_LATE_CHECKS)


def an_upgrade_drains(lab: Whole, client: str, target: str) -> None:
    """Pods go elsewhere, not faster than their budget allows, and the node opens again."""
    lab.kubectl("apply", "-f", "-", text=WEB)
    lab.kubectl("rollout", "status", "deployment/web", "--timeout=50s")
    before = lab.found("pods", "-l", "app=web")
    crowded = max(_places(before), key=_places(before).count)
    assert _places(before).count(crowded) == 2, _places(before)
    place = next(
        number
        for number, machine in enumerate(lab.world.talos.machines)
        if machine.hostname == crowded
    )

    answer = lab.talosctl(client, place=place)("upgrade", "-i", installer(target))

    succeeded(answer)
    lab.settle()
    assert lab.machine(place).version == f"v{target}"
    after = lab.found("pods", "-l", "app=web")
    known = {one["metadata"]["uid"] for one in before}
    fresh = [one for one in after if one["metadata"]["uid"] not in known]
    assert len(after) == 4
    assert len(fresh) == 2
    assert crowded not in _places(after)
    assert len({one["metadata"]["creationTimestamp"] for one in fresh}) == 2, "one after the other"
    (node,) = lab.found("node", crowded)
    assert not node["spec"].get("unschedulable")
    assert node["status"]["nodeInfo"]["osImage"] == f"Talos (v{target})"


def kubernetes_is_upgraded(lab: Whole, client: str, *, has_proxy: bool) -> None:
    """`upgrade-k8s` tells what it would do, and then does it to every component."""
    old = lab.found("nodes")[0]["status"]["nodeInfo"]["kubeletVersion"]
    new = f"{old.rpartition('.')[0]}.{int(old.rpartition('.')[2]) + 1}".removeprefix("v")
    ask = lab.talosctl(client)

    rehearsed = ask("upgrade-k8s", "--to", new, "--dry-run", "--endpoint", _endpoint(lab))
    succeeded(rehearsed)
    assert versions(lab) == {old}

    succeeded(ask("upgrade-k8s", "--to", new, "--endpoint", _endpoint(lab)))

    assert versions(lab) == {f"v{new}"}
    images = _images(lab.found("pods", "-n", "kube-system", "-l", "tier=control-plane"))
    assert images == {
        f"registry.k8s.io/{name}:v{new}"
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    }
    if has_proxy:
        proxies = lab.found("pods", "-n", "kube-system", "-l", "k8s-app=kube-proxy")
        assert _images(proxies) == {f"registry.k8s.io/kube-proxy:v{new}"}
    kubectl = lab.kubectl("get", "nodes")
    assert kubectl.count(f"v{new}") == len(lab.world.talos.machines)


def pods_get_access(lab: Whole, client: str) -> None:
    """An account that may gets a secret with which talosctl is let in, and others are told why."""
    lab.kubectl("apply", "-f", "-", text=ACCOUNTS)
    lab.settle()
    (secret,) = lab.found("secret", "good")
    ask = lab.talosctl(client)
    ask.home.joinpath("talosconfig").write_bytes(base64.b64decode(secret["data"]["config"]))

    told = ask("-e", ask.nodes, "version")
    refused(ask("-e", ask.nodes, "reboot", "--wait=false"), "PermissionDenied")

    assert f"Tag:         v{lab.server}" in succeeded(told).stdout
    whys = {
        one["involvedObject"]["name"]: (one["type"], one["reason"], one["message"])
        for one in lab.found(
            "events", "-A", "--field-selector", "involvedObject.kind=ServiceAccount"
        )
    }
    assert whys == {
        "good": ("Normal", "Synced", "Synced successfully"),
        "bold": ("Warning", "ErrRolesNotAllowed", "Roles not allowed: [os:admin]"),
        "far": ("Warning", "ErrNamespaceNotAllowed", "Namespace is not allowed: kube-public"),
    }
    assert lab.kubectl("get", "secret", "bold", "--ignore-not-found") == ""
    lab.kubectl("delete", "tsa", "good")
    lab.settle()
    assert lab.kubectl("get", "secret", "good", "--ignore-not-found") == ""


def _listed(answer: Answer) -> set[str]:
    lines = (line.split() for line in succeeded(answer).stdout.splitlines()[1:])
    return {next(one for one in line if "/" in one).partition(":")[0] for line in lines}


def versions(lab: Whole) -> set[str]:
    """What kubelets say that they are."""
    return {one["status"]["nodeInfo"]["kubeletVersion"] for one in lab.found("nodes")}


def _endpoint(lab: Whole) -> str:
    config = lab.machine().config
    assert config is not None
    return config.endpoint.removeprefix("https://").partition(":")[0]


def _places(pods: list[Any]) -> list[str]:
    return [str(pod["spec"].get("nodeName")) for pod in pods]


def _images(pods: list[Any]) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in pods}
