"""What kubelets may: their own node, their pods, and what those need."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from stockman_lab.kube.access.attributes import Attributes
from stockman_lab.kube.access.builtin_roles import builtin_roles
from stockman_lab.kube.access.rules import Rule, read_rules
from stockman_lab.kube.admission.draft import Surroundings
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

NODES = "system:nodes"
PREFIX = "system:node:"
_READ = ("get", "list", "watch")
_LEASES = "kube-node-lease"
_OWN_LEASE = ("get", "create", "update", "patch", "delete")


@cache
def _rules() -> tuple[Rule, ...]:
    """What all of them may."""
    found = (one for place, one in builtin_roles() if place.name == "system:node")
    return next(read_rules(one) for one in found if one["kind"] == "ClusterRole")


class Kubelets:
    """Judges requests of kubelets."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._around = surroundings

    def allows(self, asked: Attributes) -> tuple[bool, str]:
        """Whether a kubelet may do something, and why not; anybody else may nothing here."""
        user = asked.user
        if NODES not in user.groups or not user.name.startswith(PREFIX) or asked.path:
            return False, ""
        node = user.name.removeprefix(PREFIX)
        match asked.group, asked.resource:
            case "", "secrets" | "configmaps" | "persistentvolumeclaims" | "persistentvolumes":
                return self._needed(asked, node)
            case "", "serviceaccounts" if asked.subresource == "token":
                return self._token(asked, node)
            case "coordination.k8s.io", "leases":
                return _lease(asked, node)
            case "", "nodes" if asked.verb in _READ and asked.name != node:
                return False, f"node '{node}' cannot read all nodes, only its own Node object"
        return any(rule.allows(asked) for rule in _rules()), ""

    def _needed(self, asked: Attributes, node: str) -> tuple[bool, str]:
        if asked.subresource == "status" and asked.resource == "persistentvolumeclaims":
            return any(rule.allows(asked) for rule in _rules()), ""
        if asked.verb not in _READ:
            return False, "can only read resources of this type"
        if asked.subresource:
            return False, "cannot read subresource"
        if not asked.name:
            return False, "can only read a single resource of this type"
        wanted = (asked.resource, asked.namespace, asked.name)
        if any(wanted in self._uses(pod) for pod in self._pods(node)):
            return True, ""
        return False, f"no relationship found between node '{node}' and this object"

    def _token(self, asked: Attributes, node: str) -> tuple[bool, str]:
        if asked.verb != "create":
            return False, "only verb=create permitted"
        for pod in self._pods(node):
            account = part_of(pod, "spec").get("serviceAccountName")
            if metadata_of(pod)["namespace"] == asked.namespace and account == asked.name:
                return True, ""
        return False, f"no relationship found between node '{node}' and this object"

    def _pods(self, node: str) -> Iterator[Object]:
        for one in self._around.listed("pods"):
            if part_of(one, "spec").get("nodeName") == node:
                yield one

    def _uses(self, pod: Object) -> set[tuple[str, str, str]]:
        """What a pod needs: resource, namespace, name."""
        space, spec = str(metadata_of(pod)["namespace"]), part_of(pod, "spec")
        uses = {
            ("secrets", space, str(entry.get("name")))
            for entry in entries_of(spec, "imagePullSecrets")
        }
        for container in (*entries_of(spec, "containers"), *entries_of(spec, "initContainers")):
            for one in (*entries_of(container, "env"), *entries_of(container, "envFrom")):
                uses |= _told_of(one.get("valueFrom") or one, space)
        for volume in entries_of(spec, "volumes"):
            uses |= _told_of(volume, space)
            for source in entries_of(volume, "projected", "sources"):
                uses |= _told_of(source, space)
        claims = {use for use in uses if use[0] == "persistentvolumeclaims"}
        for _, _, name in claims:
            claim = self._around.found("persistentvolumeclaims", space, name)
            bound = "" if claim is None else part_of(claim, "spec").get("volumeName", "")
            if bound:
                uses.add(("persistentvolumes", "", str(bound)))
        return uses


def _told_of(source: Object, namespace: str) -> set[tuple[str, str, str]]:
    places = (
        ("secrets", "secretKeyRef", "name"),
        ("secrets", "secretRef", "name"),
        ("secrets", "secret", "secretName"),
        ("secrets", "secret", "name"),
        ("configmaps", "configMapKeyRef", "name"),
        ("configmaps", "configMapRef", "name"),
        ("configmaps", "configMap", "name"),
        ("persistentvolumeclaims", "persistentVolumeClaim", "claimName"),
    )
    return {
        (resource, namespace, str(found))
        for resource, part, name in places
        if (found := part_of(source, part).get(name))
    }


def _lease(asked: Attributes, node: str) -> tuple[bool, str]:
    if asked.verb not in _OWN_LEASE:
        return False, "can only get, create, update, patch, or delete a node lease"
    if asked.namespace != _LEASES:
        return False, f'can only access leases in the "{_LEASES}" system namespace'
    if asked.verb != "create" and asked.name != node:
        return False, "can only access node lease with the same name as the requesting node"
    return True, ""
