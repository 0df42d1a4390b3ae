"""Images that services and the control plane's pods run from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.pulling import PullFailed, pull

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

SYSTEM, KUBERNETES = "system", "k8s.io"
PULL_FAILED = "Failed to pull image"


def image_of(machine: Machine, service: str) -> str:
    """The image of a service. Empty: it is part of Talos."""
    config = machine.config
    if config is None:
        return ""
    return {"kubelet": config.kubelet.image, "etcd": config.etcd.image}.get(service, "")


def static_pod_images(machine: Machine) -> list[str]:
    """Images of the control plane's pods."""
    config = machine.config
    if config is None:
        return []
    kubernetes = config.kubernetes
    every = (kubernetes.api_server, kubernetes.controller_manager, kubernetes.scheduler)
    return [one.image for one in every if one.image]


def fetched(machine: Machine, reference: str, namespace: str) -> float:
    """Seconds until an image is there; raises `PullFailed`. One that is in the store is at once."""
    if not reference or reference in machine.state.images.get(namespace, {}):
        return 0.0
    pulled = pull(machine, reference, namespace)
    return machine.seconds("pull") + pulled.seconds


def has_static_pod_images(machine: Machine) -> bool:
    """Whether the images of the control plane's pods are there, or could be fetched just now."""
    try:
        for reference in static_pod_images(machine):
            fetched(machine, reference, KUBERNETES)
    except PullFailed as failed:
        machine.log("kubelet", f"{PULL_FAILED}: {failed}")
        return False
    return True
