"""Disks: encryption of system volumes is a document; old extra disks stay where they are."""

from __future__ import annotations

import re

from stockman.talos.migration.disk_selector import disk_expression
from stockman.talos.migration.draft import (
    ConfigDraft,
    EditNature,
    Plain,
    as_mapping,
    as_mappings,
    as_text,
    select_fields,
)

_ENCRYPTION = ("provider", "keys", "cipher", "keySize", "blockSize", "options")
TRIM_EVERY = "168h0m0s"


def migrate_encryption(draft: ConfigDraft) -> None:
    """System volumes: known as documents since before 1.11."""
    for section, volume in (("state", "STATE"), ("ephemeral", "EPHEMERAL")):
        reason = f"the encryption of {volume} is in its VolumeConfig"
        given = as_mapping(draft.take(f"machine.systemDiskEncryption.{section}", reason))
        if given:
            fields = {"encryption": select_fields(given, *_ENCRYPTION)}
            draft.put("VolumeConfig", fields, reason, name=volume)
    if draft.section("machine.systemDiskEncryption") == {}:
        draft.take("machine.systemDiskEncryption", "it is empty", EditNature.REMOVED)


def migrate_disks(draft: ConfigDraft) -> None:
    """Extra disks have no equal: a UserVolumeConfig would not find their partitions."""
    if draft.get("machine.disks"):
        draft.kept(
            "machine.disks",
            why="a UserVolumeConfig finds partitions by its own label, and would make new ones",
            fix="move the data to a UserVolumeConfig, or name the partition in an"
            " ExistingVolumeConfig",
        )


def migrate_volume_defaults(draft: ConfigDraft) -> None:
    """What contract 1.14 does with volumes unless told otherwise."""
    if not draft.adopt or draft.fragment:
        return
    for kind, name, fields, reason in (
        (
            "VolumeConfig",
            "EPHEMERAL",
            {"mount": {"secure": True}},
            "/var has no devices and set-user-ID programs",
        ),
        ("FilesystemTrimConfig", "", {"interval": TRIM_EVERY}, "free blocks are given back"),
        ("SecurityProfileConfig", "", {"workloadIsolation": True}, "workloads are kept apart"),
    ):
        draft.put(
            kind, fields, f"a default of 1.14: {reason}", name=name, nature=EditNature.DEFAULT
        )


DISCOVERY = "https://discovery.talos.dev/"
_CRI_FILE = "/etc/cri/conf.d/20-customization.part"
_CRI_NAME = "machine-files"


def migrate_overlay_and_environment(draft: ConfigDraft) -> None:
    """Contract 1.13."""
    reason = "KubeSpan is a KubeSpanConfig"
    overlay = as_mapping(draft.take("machine.network.kubespan", reason))
    if overlay:
        draft.put("KubeSpanConfig", overlay, reason)
    reason = "environment variables are in an EnvironmentConfig"
    variables = as_mapping(draft.take("machine.env", reason))
    if variables:
        draft.put("EnvironmentConfig", {"variables": variables}, reason)
    if draft.get("machine.network") == {}:
        draft.take("machine.network", "it is empty", EditNature.REMOVED)


def migrate_kernel_command_line(draft: ConfigDraft) -> None:
    """Contract 1.12: GRUB takes kernel arguments from the image unless there are others."""
    install = draft.section("machine.install")
    if not draft.adopt or draft.fragment or not install or install.get("extraKernelArgs"):
        return
    if install.get("grubUseUKICmdline") is None:
        draft.replace(
            "machine.install.grubUseUKICmdline",
            True,
            "a default of 1.12: GRUB takes the kernel arguments from the image",
            EditNature.DEFAULT,
        )


def migrate_system(draft: ConfigDraft) -> None:
    """Contract 1.14."""
    _discovery(draft)
    _install(draft)
    _host_dns(draft)
    _kernel(draft)
    _files(draft)
    _image_cache(draft)


def _discovery(draft: ConfigDraft) -> None:
    reason = "the identity of the cluster is a DiscoveryIdentityConfig"
    if draft.fragment or (draft.get("cluster.id") and draft.get("cluster.secret")):
        identity = {
            "clusterID": draft.take("cluster.id", reason),
            "clusterSecret": draft.take("cluster.secret", reason),
        }
        given = {key: value for key, value in identity.items() if value is not None}
        if given:
            draft.put("DiscoveryIdentityConfig", given, reason)
    _discovery_service(draft)


def _discovery_service(draft: ConfigDraft) -> None:
    section = draft.section("cluster.discovery")
    if not section:
        return
    registries = as_mapping(section.get("registries"))
    service = as_mapping(registries.get("service"))
    in_kubernetes = as_mapping(registries.get("kubernetes")).get("disabled") is not True
    if section.get("enabled") is True and in_kubernetes and not draft.fragment:
        draft.kept(
            "cluster.discovery",
            why="machines also find each other through Kubernetes, which no document says",
            fix="set cluster.discovery.registries.kubernetes.disabled to true first",
        )
        return
    reason = "discovery is on where there is a DiscoveryServiceConfig"
    draft.take("cluster.discovery", reason)
    if section.get("enabled") is True and service.get("disabled") is not True:
        endpoint = service.get("endpoint") or DISCOVERY
        draft.put("DiscoveryServiceConfig", {"endpoint": endpoint}, reason, name="default")


def _install(draft: ConfigDraft) -> None:
    install = draft.section("machine.install")
    if not install:
        return
    why = _installation_obstacle(install, draft)
    if why is not None:
        draft.kept(
            "machine.install",
            why=why,
            fix="put extensions and kernel arguments into the schematic of the image, then migrate",
        )
        return
    reason = "the installation is an UnattendedInstallConfig"
    draft.take("machine.install", reason)
    fields: Plain = {}
    if install.get("image"):
        fields["installer"] = {"image": install["image"]}
    provisioning: Plain = {}
    expression = disk_expression(install)
    if expression is not None:
        provisioning["diskSelector"] = {"match": expression}
    if install.get("wipe") is not None or not draft.fragment:
        provisioning["wipe"] = install.get("wipe") is True
    if provisioning:
        fields["provisioning"] = provisioning
    if fields:
        draft.put("UnattendedInstallConfig", fields, reason)


def _installation_obstacle(install: Plain, draft: ConfigDraft) -> str | None:
    for field in ("extraKernelArgs", "extensions"):
        if install.get(field):
            return f"an UnattendedInstallConfig has no {field}"
    if install.get("legacyBIOSSupport") is True:
        return "an UnattendedInstallConfig has no legacyBIOSSupport"
    if draft.fragment:
        return None
    if not install.get("image"):
        return "without an image the version that runs would choose another installer"
    if disk_expression(install) is None:
        return "it names no disk"
    return None


def _host_dns(draft: ConfigDraft) -> None:
    reason = "the DNS cache of the machine is set in the ResolverConfig"
    section = as_mapping(draft.take("machine.features.hostDNS", reason))
    if section:
        draft.put("ResolverConfig", {"hostDNS": section}, reason)


def _kernel(draft: ConfigDraft) -> None:
    for path, kind, field in (
        ("machine.sysctls", "SysctlConfig", "params"),
        ("machine.sysfs", "SysfsConfig", "params"),
        ("machine.udev.rules", "UdevRulesConfig", "rules"),
        ("machine.baseRuntimeSpecOverrides", "CRIBaseRuntimeSpecConfig", "overrides"),
    ):
        reason = f"{path.partition('.')[2]} is a {kind}"
        value = draft.take(path, reason)
        if value:
            draft.put(kind, {field: value}, reason)
    modules = as_mappings(draft.get("machine.kernel.modules"))
    names = [as_text(module.get("name")) for module in modules]
    if len(set(names)) != len(names):
        draft.kept(
            "machine.kernel.modules",
            why="a module stands there twice, and a document stands for each once",
            fix="join the two entries",
        )
        return
    reason = "every kernel module is a KernelModuleConfig"
    draft.take("machine.kernel", reason)
    for module in modules:
        fields = select_fields(module, "parameters")
        draft.put("KernelModuleConfig", fields, reason, name=as_text(module.get("name")))


def _files(draft: ConfigDraft) -> None:
    files = as_mappings(draft.get("machine.files"))
    runtime = [one for one in files if one.get("path") == _CRI_FILE]
    others = [one for one in files if one.get("path") != _CRI_FILE]
    if runtime:
        reason = "settings of containerd are a CRICustomizationConfig"
        draft.replace("machine.files", others or None, reason)
        content = "\n".join(as_text(one.get("content")).rstrip("\n") for one in runtime) + "\n"
        draft.put("CRICustomizationConfig", {"content": content}, reason, name=_CRI_NAME)
    if others:
        paths = ", ".join(as_text(one.get("path")) for one in others)
        draft.kept(
            "machine.files",
            why=f"an EtcFileConfig writes below /etc only, and here stands {paths}",
            fix="put the files into a system extension or a volume; `talosctl validate --strict`"
            " refuses them",
        )


def _image_cache(draft: ConfigDraft) -> None:
    reason = "the image cache is an ImageCacheConfig"
    section = as_mapping(draft.take("machine.features.imageCache", reason))
    if section.get("localEnabled") is not None:
        draft.put("ImageCacheConfig", {"local": {"enabled": section["localEnabled"]}}, reason)


def document_name(wanted: str, taken: set[str]) -> str:
    """A name that documents may have, made of a text, and not taken yet."""
    name = re.sub(r"[^a-z0-9.-]+", "-", wanted.lower()).strip("-.")[:60].strip("-.") or "manifest"
    free = name
    number = 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    taken.add(free)
    return free
