"""How long kubelets may keep secrets and maps before they look again."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import Change
from stockman_lab.kube.objects import metadata_of, part_of

_ANNOTATION = "node.alpha.kubernetes.io/ttl"
_BY_SIZE = ((100, 0), (500, 15), (1000, 30), (2000, 60))
_LARGEST = 300


class NodeTtl(Controller):
    """Writes an annotation on nodes, by how many there are."""

    name = "ttl"
    component = "ttl-controller"
    watches = ("nodes",)

    def keys(self, change: Change) -> Iterable[str]:
        """A node that is new or lost the annotation."""
        told = part_of(change.after or {}, "metadata", "annotations").get(_ANNOTATION)
        is_new = change.after is not None and (change.before is None or told is None)
        return (change.key.name,) if is_new else ()

    def sync(self, key: str) -> None:
        """Write it."""
        nodes = self.objects.get("nodes", key)
        if nodes is None:
            return
        count = len(self.objects.listed("nodes"))
        seconds = next((ttl for most, ttl in _BY_SIZE if count <= most), _LARGEST)
        if (metadata_of(nodes).get("annotations") or {}).get(_ANNOTATION) != str(seconds):
            self.client.patch(nodes, {"metadata": {"annotations": {_ANNOTATION: str(seconds)}}})
