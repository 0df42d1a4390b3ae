"""Storage drivers attach and detach volumes, where their pods run in the cluster.

A driver that runs elsewhere is not disturbed, and without any driver nothing is ever attached.
"""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import Change
from stockman_lab.kube.objects import Object, metadata_of, part_of
from stockman_lab.kube.programs import drives, is_running

_ATTACH, _DETACH = (2.0, 8.0), (3.0, 15.0)
"""Least and most seconds that a driver takes."""


class StorageDrivers(Controller):
    """What the attachers beside all drivers do."""

    name = "storage-drivers"
    component = "csi-attacher"
    watches = ("volumeattachments", "pods")

    def keys(self, change: Change) -> Iterable[str]:
        """Attachments; of a driver that comes up, all that wait for it."""
        if change.key.resource == "volumeattachments":
            return (change.key.name,)
        after = change.after
        if after is None or not is_running(after) or is_running(change.before or {}):
            return ()
        return [
            str(metadata_of(one)["name"])
            for one in self.objects.listed("volumeattachments")
            if drives(after, part_of(one, "spec")["attacher"])
        ]

    def sync(self, key: str) -> None:
        """Attach or detach, if the driver is there and it is time."""
        volumeattachments = self.objects.get("volumeattachments", key)
        if volumeattachments is None or not self._is_there(
            part_of(volumeattachments, "spec")["attacher"]
        ):
            return
        if metadata_of(volumeattachments).get("deletionTimestamp"):
            self._detach(key, volumeattachments)
        elif not part_of(volumeattachments, "status").get("attached"):
            self._attach(key, volumeattachments)

    def _is_there(self, driver: str) -> bool:
        return any(is_running(pod) and drives(pod, driver) for pod in self.objects.listed("pods"))

    def _attach(self, key: str, found: Object) -> None:
        if self._is_due(key, found, "attach", _ATTACH):
            held = [*_others(found), _finalizer(found)]
            patch = self.client.patch(found, {"metadata": {"finalizers": held}})
            self.client.update_status(patch, {"attached": True})

    def _detach(self, key: str, found: Object) -> None:
        if self._is_due(key, found, "detach", _DETACH):
            try:
                self.client.patch(found, {"metadata": {"finalizers": _others(found)}})
            except Refused as why:
                if not why.is_absent:
                    raise

    def _is_due(self, key: str, one: Object, what: str, seconds: tuple[float, float]) -> bool:
        note = f"{self.name} {what} {metadata_of(one)['uid']}"
        return self.has_waited(key, note, seconds)


def _finalizer(attachment: Object) -> str:
    return f"external-attacher/{part_of(attachment, 'spec')['attacher'].replace('.', '-')}"


def _others(attachment: Object) -> list[str]:
    """Finalizers that are not the driver's."""
    own = _finalizer(attachment)
    return [
        finalizer
        for finalizer in metadata_of(attachment).get("finalizers") or ()
        if finalizer != own
    ]
