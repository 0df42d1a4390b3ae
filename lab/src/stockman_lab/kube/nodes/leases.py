"""Signs of life of kubelets: written when somebody looks, as nothing in the lab is periodic."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.objects import Object, metadata_of, part_of

SPACE = "kube-node-lease"
EVERY = 10.0
"""Seconds between two renewals."""
LASTS = 40
"""Seconds after the last one when a machine counts as lost."""


def micro_time(now: float) -> str:
    """A moment as leases write it."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def renew(objects: Objects, client: Client, node: Object, now: float) -> None:
    """Have a lease of a node that is not older than it would be."""
    name = str(metadata_of(node)["name"])
    leases = objects.get("leases", f"{SPACE}/{name}")
    moment = micro_time(now - now % EVERY)
    try:
        if leases is None:
            client.create("coordination.k8s.io/v1", "Lease", _lease(node, name, moment))
        elif str(part_of(leases, "spec").get("renewTime", "")) < moment:
            client.update({**leases, "spec": {**part_of(leases, "spec"), "renewTime": moment}})
    except Refused:
        return  # as well as can be: it is tried at the next look


def _lease(node: Object, name: str, moment: str) -> Object:
    owner = {
        "apiVersion": "v1",
        "kind": "Node",
        "name": name,
        "uid": metadata_of(node).get("uid"),
    }
    return {
        "metadata": {"name": name, "namespace": SPACE, "ownerReferences": [owner]},
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": LASTS,
            "renewTime": moment,
        },
    }
