"""Claims and volumes find each other; volumes that others make are waited for."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.objects import Object, copied, entries_of, metadata_of, part_of
from stockman_lab.kube.schema.quantity import amount

_CLAIM, _VOLUME = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"


def claims_of(pod: Object) -> list[str]:
    """Keys of the claims that a pod uses."""
    namespace = metadata_of(pod)["namespace"]
    named_keys = []
    for entry in entries_of(pod, "spec", "volumes"):
        name = part_of(entry, "persistentVolumeClaim").get("claimName")
        if name:
            named_keys.append(named_key(namespace, name))
        elif "ephemeral" in entry:
            named_keys.append(named_key(namespace, f"{metadata_of(pod)['name']}-{entry['name']}"))
    return named_keys


class VolumeProtection(Controller):
    """Takes the finalizer from what is no longer used."""

    name = "persistentvolume-protection"
    component = "pv-protection-controller"
    watches = ("persistentvolumeclaims", "persistentvolumes", "pods")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """What goes, and the claims of pods that ended."""
        if change.key.resource == "pods":
            ended = part_of(change.newest, "status").get("phase") in {"Succeeded", "Failed"}
            return claims_of(change.newest) if change.after is None or ended else ()
        if change.after is None:
            volume = part_of(change.newest, "spec").get("volumeName")
            return (volume,) if volume else ()
        going = metadata_of(change.after).get("deletionTimestamp")
        return (change.name,) if going or change.key.resource == "persistentvolumes" else ()

    def sync(self, key: str) -> None:
        """Let a claim or a volume go if nobody uses it."""
        is_claim = "/" in key
        plural = "persistentvolumeclaims" if is_claim else "persistentvolumes"
        finalizer = _CLAIM if is_claim else _VOLUME
        content = self.objects.get(plural, key)
        if content is None or not metadata_of(content).get("deletionTimestamp"):
            return
        finalizers = metadata_of(content).get("finalizers") or []
        used = (
            self._is_used(key) if is_claim else part_of(content, "status").get("phase") == "Bound"
        )
        if finalizer in finalizers and not used:
            kept = [one for one in finalizers if one != finalizer] or None
            self.client.patch(content, {"metadata": {"finalizers": kept}})

    def _is_used(self, key: str) -> bool:
        namespace = key.partition("/")[0]
        return any(
            key in claims_of(pod)
            and part_of(pod, "spec").get("nodeName")
            and part_of(pod, "status").get("phase") not in {"Succeeded", "Failed"}
            for pod in self.objects.listed("pods", namespace)
        )


_COMPLETED = "pv.kubernetes.io/bind-completed"
_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
_OLD_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
_NODE = "volume.kubernetes.io/selected-node"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_NOBODY = "kubernetes.io/no-provisioner"


class VolumeBinding(Controller):
    """Binds claims to volumes."""

    name = "persistentvolume-binder"
    component = "persistentvolume-controller"
    watches = ("persistentvolumeclaims", "persistentvolumes", "storageclasses")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """A claim; of a volume, the claim it names or all that wait; `volume` for the volume."""
        if change.key.resource == "persistentvolumeclaims":
            volume = part_of(change.newest, "spec").get("volumeName")
            gone = (volume,) if volume and change.after is None else ()
            return (change.name, *gone)
        waiting = [
            named_key(metadata_of(claim)["namespace"], metadata_of(claim)["name"])
            for claim in self.objects.listed("persistentvolumeclaims")
            if part_of(claim, "status").get("phase") != "Bound"
        ]
        if change.key.resource == "storageclasses":
            return waiting if change.after is not None else ()
        return (change.key.name, *waiting)

    def sync(self, key: str) -> None:
        """Look at a claim, or at a volume: those have no namespace."""
        if "/" in key:
            self._claim(key)
        else:
            self._volume(key)

    # -- volumes -------------------------------------------------------------------------------

    def _volume(self, key: str) -> None:
        persistentvolumes = self.objects.get("persistentvolumes", key)
        if persistentvolumes is None or metadata_of(persistentvolumes).get("deletionTimestamp"):
            return
        reference = part_of(persistentvolumes, "spec", "claimRef")
        if not reference:
            self._phase(persistentvolumes, "Available")
            return
        name = named_key(reference.get("namespace", ""), reference.get("name", ""))
        claim = self.objects.get("persistentvolumeclaims", name)
        if not reference.get("uid"):
            self._phase(persistentvolumes, "Available")
        elif claim is None or metadata_of(claim)["uid"] != reference["uid"]:
            self._phase(persistentvolumes, "Released")
        elif part_of(claim, "spec").get("volumeName") == key:
            self._phase(persistentvolumes, "Bound")

    def _phase(self, content: Object, phase: str) -> None:
        status = part_of(content, "status")
        if status.get("phase") != phase:
            changed = {**status, "phase": phase, "lastPhaseTransitionTime": self.today}
            self.client.update_status(content, changed)

    # -- claims --------------------------------------------------------------------------------

    def _claim(self, key: str) -> None:
        persistentvolumeclaims = self.objects.get("persistentvolumeclaims", key)
        if persistentvolumeclaims is None:
            return
        if metadata_of(persistentvolumeclaims).get(
            "deletionTimestamp"
        ) or _COMPLETED in _annotations(persistentvolumeclaims):
            self._tell_lost(persistentvolumeclaims)
            return
        volume = self._fitting(persistentvolumeclaims)
        if volume is not None:
            self._bind(persistentvolumeclaims, volume)
            return
        self._wait(self._with_class(persistentvolumeclaims))

    def _tell_lost(self, content: Object) -> None:
        volume = part_of(content, "spec").get("volumeName")
        bound = part_of(content, "status").get("phase") == "Bound"
        if volume and bound and self.objects.get("persistentvolumes", volume) is None:
            self.client.update_status(content, {**part_of(content, "status"), "phase": "Lost"})
            text = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
            self.recorder.warning(content, "ClaimLost", text)

    def _with_class(self, content: Object) -> Object:
        """A claim that names no class, with the usual one where there is one by now."""
        spec = part_of(content, "spec")
        if spec.get("storageClassName") is not None or spec.get("volumeName"):
            return content
        usual = [
            storage_class
            for storage_class in self.objects.listed("storageclasses")
            if _annotations(storage_class).get(_DEFAULT) == "true"
        ]
        if not usual:
            return content
        usual.sort(key=lambda one: str(metadata_of(one)["name"]))
        newest = max(usual, key=lambda item: str(metadata_of(item)["creationTimestamp"]))
        name = metadata_of(newest)["name"]
        return self.client.patch(content, {"spec": {"storageClassName": name}})

    def _wait(self, content: Object) -> None:
        name = part_of(content, "spec").get("storageClassName") or ""
        known = self.objects.get("storageclasses", name) if name else None
        if not name:
            text = "no persistent volumes available for this claim and no storage class is set"
            self.recorder.normal(content, "FailedBinding", text)
            return
        if known is None:
            text = f'storageclass.storage.k8s.io "{name}" not found'
            self.recorder.warning(content, "ProvisioningFailed", text)
            return
        late = known.get("volumeBindingMode") == "WaitForFirstConsumer"
        if late and _NODE not in _annotations(content):
            text = "waiting for first consumer to be created before binding"
            self.recorder.normal(content, "WaitForFirstConsumer", text)
            return
        provisioner = known["provisioner"]
        if provisioner == _NOBODY:
            text = "no volume plugin matched name: kubernetes.io/no-provisioner"
            self.recorder.normal(content, "FailedBinding", text)
            return
        if _annotations(content).get(_PROVISIONER) != provisioner:
            told = {_PROVISIONER: provisioner, _OLD_PROVISIONER: provisioner}
            content = self.client.patch(content, {"metadata": {"annotations": told}})
        text = (
            "Waiting for a volume to be created either by the external provisioner"
            f" '{provisioner}' or manually by the system administrator. If volume creation is"
            " delayed, please verify that the provisioner is running and correctly registered."
        )
        self.recorder.normal(content, "ExternalProvisioning", text)

    def _fitting(self, claim: Object) -> Object | None:
        """The smallest volume that is meant for a claim, or free and large enough."""
        spec, metadata = part_of(claim, "spec"), metadata_of(claim)
        fraction = amount(part_of(spec, "resources", "requests").get("storage", "0"))
        fitting: list[tuple[object, str, Object]] = []
        for volume in self.objects.listed("persistentvolumes"):
            about, name = part_of(volume, "spec"), metadata_of(volume)["name"]
            if metadata_of(volume).get("deletionTimestamp"):
                continue
            reference = about.get("claimRef")
            if spec.get("volumeName") and spec["volumeName"] != name:
                continue
            if reference:
                same = (reference.get("namespace"), reference.get("name")) == (
                    metadata["namespace"],
                    metadata["name"],
                )
                if same and reference.get("uid") in (None, "", metadata["uid"]):
                    return volume
                continue
            size = amount(part_of(about, "capacity").get("storage", "0"))
            if self._suits(about, spec) and size >= fraction:
                fitting.append((size, name, volume))
        fitting.sort(key=lambda each: each[:2])
        return fitting[0][2] if fitting else None

    def _suits(self, volume: Object, claim: Object) -> bool:
        name = claim.get("storageClassName") or ""
        if (volume.get("storageClassName") or "") != name:
            return False
        known = self.objects.get("storageclasses", name) if name else None
        if known is not None and known.get("volumeBindingMode") == "WaitForFirstConsumer":
            return False
        modes = set(claim.get("accessModes") or ()) <= set(volume.get("accessModes") or ())
        same = volume.get("volumeMode", "Filesystem") == claim.get("volumeMode", "Filesystem")
        return modes and same

    def _bind(self, claim: Object, volume: Object) -> None:
        metadata = metadata_of(claim)
        if part_of(volume, "spec", "claimRef").get("uid") != metadata["uid"]:
            changed = copied(volume)
            if "claimRef" not in changed["spec"]:
                changed["metadata"].setdefault("annotations", {})[_BY_CONTROLLER] = "yes"
            changed["spec"]["claimRef"] = {
                "kind": "PersistentVolumeClaim",
                "namespace": metadata["namespace"],
                "name": metadata["name"],
                "uid": metadata["uid"],
                "apiVersion": "v1",
                "resourceVersion": metadata["resourceVersion"],
            }
            volume = self.client.update(changed)
        self._phase(volume, "Bound")
        changed = copied(claim)
        annotations = changed["metadata"].setdefault("annotations", {})
        annotations[_COMPLETED] = "yes"
        if not part_of(claim, "spec").get("volumeName"):
            annotations[_BY_CONTROLLER] = "yes"
        changed["spec"]["volumeName"] = metadata_of(volume)["name"]
        content = self.client.update(changed)
        about = part_of(volume, "spec")
        status = {
            "phase": "Bound",
            "accessModes": about.get("accessModes"),
            "capacity": about.get("capacity"),
        }
        self.client.update_status(content, status)


def _annotations(content: Object) -> Object:
    return part_of(content, "metadata", "annotations")
