"""Storage drivers make volumes for claims and take them away, where their pods run in the cluster.

Nothing is made on a Proxmox host: a volume is an object here. A driver that runs elsewhere is not
disturbed.
"""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.objects import Object, metadata_of, part_of
from stockman_lab.kube.programs import drives, is_running

PROVISIONER = "volume.kubernetes.io/storage-provisioner"
_MADE_BY = "pv.kubernetes.io/provisioned-by"
_FILE_SYSTEM = "csi.storage.k8s.io/fstype"
_MAKE, _REMOVE = (3.0, 9.0), (2.0, 6.0)
"""Least and most seconds that a driver takes."""


class VolumeProvisioners(Controller):
    """What the provisioners beside all drivers do."""

    name = "volume-provisioners"
    component = "csi-provisioner"
    watches = ("persistentvolumeclaims", "persistentvolumes", "pods")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Claims and volumes; of a driver that comes up, all of them."""
        if change.key.resource != "pods":
            return (change.name,)
        after = change.after
        if after is None or not is_running(after) or is_running(change.before or {}):
            return ()
        claims = self.objects.listed("persistentvolumeclaims")
        return [
            *(
                named_key(metadata_of(claim)["namespace"], metadata_of(claim)["name"])
                for claim in claims
            ),
            *(
                str(metadata_of(volume)["name"])
                for volume in self.objects.listed("persistentvolumes")
            ),
        ]

    def sync(self, key: str) -> None:
        """Look at a claim, or at a volume: those have no namespace."""
        if "/" in key:
            self._claim(key)
        else:
            self._volume(key)

    def _is_there(self, driver: str) -> bool:
        return any(is_running(pod) and drives(pod, driver) for pod in self.objects.listed("pods"))

    def _claim(self, key: str) -> None:
        persistentvolumeclaims = self.objects.get("persistentvolumeclaims", key)
        if persistentvolumeclaims is None or metadata_of(persistentvolumeclaims).get(
            "deletionTimestamp"
        ):
            return
        driver = str(
            part_of(persistentvolumeclaims, "metadata", "annotations").get(PROVISIONER) or ""
        )
        is_named = bool(part_of(persistentvolumeclaims, "spec").get("volumeName"))
        if is_named or not driver or not self._is_there(driver):
            return
        kind = str(part_of(persistentvolumeclaims, "spec").get("storageClassName") or "")
        known = self.objects.get("storageclasses", kind)
        name = f"pvc-{metadata_of(persistentvolumeclaims)['uid']}"
        if known is None or self.objects.get("persistentvolumes", name) is not None:
            return
        if not self._is_due(key, persistentvolumeclaims, _MAKE):
            text = f'External provisioner is provisioning volume for claim "{key}"'
            self.recorder.normal(persistentvolumeclaims, "Provisioning", text)
            return
        try:
            self.client.create(
                "v1", "PersistentVolume", _made(name, driver, persistentvolumeclaims, known)
            )
        except Refused as why:
            if not why.is_taken:
                raise
        self.recorder.normal(
            persistentvolumeclaims,
            "ProvisioningSucceeded",
            f"Successfully provisioned volume {name}",
        )

    def _volume(self, key: str) -> None:
        persistentvolumes = self.objects.get("persistentvolumes", key)
        if persistentvolumes is None or metadata_of(persistentvolumes).get("deletionTimestamp"):
            return
        driver = str(part_of(persistentvolumes, "metadata", "annotations").get(_MADE_BY) or "")
        is_kept = (
            part_of(persistentvolumes, "spec").get("persistentVolumeReclaimPolicy") != "Delete"
        )
        is_released = part_of(persistentvolumes, "status").get("phase") == "Released"
        if not driver or is_kept or not is_released or not self._is_there(driver):
            return
        if self._is_due(key, persistentvolumes, _REMOVE):
            try:
                self.client.delete(persistentvolumes)
            except Refused as why:
                if not why.is_absent:
                    raise

    def _is_due(self, key: str, content: Object, seconds: tuple[float, float]) -> bool:
        note = f"{self.name} {metadata_of(content)['uid']}"
        return self.has_waited(key, note, seconds)


def _made(name: str, driver: str, claim: Object, known: Object) -> Object:
    spec, metadata = part_of(claim, "spec"), metadata_of(claim)
    source: Object = {"driver": driver, "volumeHandle": name}
    if part_of(known, "parameters").get(_FILE_SYSTEM):
        source["fsType"] = known["parameters"][_FILE_SYSTEM]
    return {
        "metadata": {"name": name, "annotations": {_MADE_BY: driver}},
        "spec": {
            "accessModes": spec.get("accessModes"),
            "capacity": {"storage": part_of(spec, "resources", "requests").get("storage")},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": metadata["namespace"],
                "name": metadata["name"],
                "uid": metadata["uid"],
                "resourceVersion": metadata["resourceVersion"],
            },
            "csi": source,
            "persistentVolumeReclaimPolicy": known.get("reclaimPolicy", "Delete"),
            "storageClassName": spec.get("storageClassName"),
            "volumeMode": spec.get("volumeMode", "Filesystem"),
        },
    }


_ATTACH, _DETACH = (2.0, 8.0), (3.0, 15.0)
"""Least and most seconds that a driver takes."""


class StorageDrivers(Controller):
    """What the attachers beside all drivers do."""

    name = "storage-drivers"
    component = "csi-attacher"
    watches = ("volumeattachments", "pods")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Attachments; of a driver that comes up, all that wait for it."""
        if change.key.resource == "volumeattachments":
            return (change.key.name,)
        after = change.after
        if after is None or not is_running(after) or is_running(change.before or {}):
            return ()
        return [
            str(metadata_of(attachment)["name"])
            for attachment in self.objects.listed("volumeattachments")
            if drives(after, part_of(attachment, "spec")["attacher"])
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

    def _attach(self, key: str, content: Object) -> None:
        if self._is_due(key, content, "attach", _ATTACH):
            held = [*_others(content), _finalizer(content)]
            patch = self.client.patch(content, {"metadata": {"finalizers": held}})
            self.client.update_status(patch, {"attached": True})

    def _detach(self, key: str, content: Object) -> None:
        if self._is_due(key, content, "detach", _DETACH):
            try:
                self.client.patch(content, {"metadata": {"finalizers": _others(content)}})
            except Refused as why:
                if not why.is_absent:
                    raise

    def _is_due(self, key: str, content: Object, what: str, seconds: tuple[float, float]) -> bool:
        note = f"{self.name} {what} {metadata_of(content)['uid']}"
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
