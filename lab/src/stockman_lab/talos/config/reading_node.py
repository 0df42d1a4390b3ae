"""Settings of the machine itself, out of the v1alpha1 document and out of documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.talos.migration.system import disk_expression
from stockman_lab.talos.config.documents import Documents
from stockman_lab.talos.config.node_setting import (
    Features,
    InstallSetting,
    KernelModule,
    VolumeSetting,
)
from stockman_lab.talos.config.values import (
    Tree,
    at,
    flag,
    items,
    mapping,
    mappings,
    text,
    texts,
)

_VOLUMES = {
    "VolumeConfig": "system",
    "UserVolumeConfig": "user",
    "RawVolumeConfig": "raw",
    "SwapVolumeConfig": "swap",
    "ExistingVolumeConfig": "existing",
    "ExternalVolumeConfig": "external",
}
_KEYS = ("static", "nodeID", "kms", "tpm")


def volumes(documents: Documents) -> Iterator[VolumeSetting]:
    """Volumes of the system first, then the user's, then disks of old configurations."""
    spoken = {text(document.get("name")) for document in documents.all("VolumeConfig")}
    old = mapping(documents.machine.get("systemDiskEncryption"))
    for section, name in (("state", "STATE"), ("ephemeral", "EPHEMERAL")):
        if name not in spoken and isinstance(old.get(section), dict):
            yield VolumeSetting(name=name, encryption=_encryption(mapping(old[section])))
    for kind, one in documents.several(_VOLUMES):
        yield _volume(_VOLUMES[kind], one)
    for disk in mappings(documents.machine.get("disks")):
        for entry in mappings(disk.get("partitions")):
            yield VolumeSetting(
                name=text(entry.get("mountpoint")),
                kind="disk",
                max_size=text(entry.get("size")),
                filesystem="xfs",
            )


def _volume(kind: str, tree: Tree) -> VolumeSetting:
    provisioning = mapping(tree.get("provisioning"))
    default = "xfs" if kind == "user" else ""
    return VolumeSetting(
        name=text(tree.get("name")),
        kind=kind,
        volume_type=text(tree.get("volumeType"), "partition"),
        min_size=text(provisioning.get("minSize")),
        max_size=text(provisioning.get("maxSize")),
        filesystem=text(at(tree, "filesystem", "type"))
        or text(tree.get("filesystemType"))
        or default,
        encryption=_encryption(mapping(tree.get("encryption"))),
    )


def _encryption(tree: Tree) -> tuple[str, ...]:
    keys = sorted(mappings(tree.get("keys")), key=lambda one: text(one.get("slot")))
    return tuple(next((kind for kind in _KEYS if kind in key), "") for key in keys)


def install(documents: Documents) -> InstallSetting | None:
    unattended = documents.one("UnattendedInstallConfig")
    if unattended is not None:
        image = text(at(unattended, "installer", "image"))
        return InstallSetting(
            expression=text(at(unattended, "provisioning", "diskSelector", "match")),
            image=image,
            is_unattended=True,
        )
    told = documents.machine.get("install")
    if not isinstance(told, dict):
        return None
    return InstallSetting(expression=_disk(told), image=text(told.get("image")))


def _disk(tree: Tree) -> str:
    try:
        return disk_expression(tree) or ""
    except ValueError:
        return ""


def features(documents: Documents, minor: str) -> Features:
    told = mapping(documents.machine.get("features"))
    access = documents.one("KubeTalosAPIAccessConfig")
    allowed = access if access is not None else mapping(told.get("kubernetesTalosAPIAccess"))
    return Features(
        rbac=flag(told.get("rbac"), default=True) or minor != "1.11",
        talos_api_access=access is not None or flag(allowed.get("enabled")),
        talos_api_roles=texts(allowed.get("allowedRoles")),
        talos_api_namespaces=texts(allowed.get("allowedKubernetesNamespaces")),
        address_sorting=text(told.get("nodeAddressSortAlgorithm"), "v1"),
    )


def discovers_members(documents: Documents) -> bool:
    enabled = at(documents.cluster, "discovery", "enabled")
    return flag(enabled) or documents.one("DiscoveryServiceConfig") is not None


def kernel_modules(documents: Documents) -> tuple[KernelModule, ...]:
    rows = [
        *mappings(at(documents.machine, "kernel", "modules")),
        *documents.all("KernelModuleConfig"),
    ]
    replaces: dict[str, KernelModule] = {}
    for one in rows:
        name = text(one.get("name"))
        known = replaces.get(name, KernelModule(name=name))
        replaces[name] = replace(known)
    return tuple(replaces.values())


def static_pods(documents: Documents) -> tuple[Tree, ...]:
    told = items(documents.machine.get("pods"))
    more = [document.get("pod") for document in documents.all("KubeStaticPodConfig")]
    return tuple(mapping(one) for one in (*told, *more))
