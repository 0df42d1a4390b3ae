"""Contracts 1.12 to 1.14: volumes, overlay network, installation, kernel and files."""

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
    """Migrate system volumes, whose documents exist since before 1.11."""
    for section, volume in (("state", "STATE"), ("ephemeral", "EPHEMERAL")):
        reason = f"the encryption of {volume} moves to its VolumeConfig"
        encryption = as_mapping(draft.take(f"machine.systemDiskEncryption.{section}", reason))
        if encryption:
            fields = {"encryption": select_fields(encryption, *_ENCRYPTION)}
            draft.put("VolumeConfig", fields, reason, name=volume)
    if draft.section("machine.systemDiskEncryption") == {}:
        draft.take("machine.systemDiskEncryption", "it is empty", EditNature.REMOVED)


def migrate_disks(draft: ConfigDraft) -> None:
    """Extra disks stay: a UserVolumeConfig would not find their partitions."""
    if draft.get("machine.disks"):
        draft.keep(
            "machine.disks",
            why="a UserVolumeConfig finds partitions by its own label, and would create new ones",
            fix="move the data to a UserVolumeConfig, or use the partition in an"
            " ExistingVolumeConfig",
        )


def migrate_volume_defaults(draft: ConfigDraft) -> None:
    """Adopt the volume defaults of contract 1.14."""
    if not draft.adopt or draft.fragment:
        return
    for kind, name, fields, reason in (
        (
            "VolumeConfig",
            "EPHEMERAL",
            {"mount": {"secure": True}},
            "/var has no devices and set-user-ID programs",
        ),
        ("FilesystemTrimConfig", "", {"interval": TRIM_EVERY}, "free blocks are trimmed"),
        ("SecurityProfileConfig", "", {"workloadIsolation": True}, "workloads are isolated"),
    ):
        draft.put(
            kind, fields, f"a default of 1.14: {reason}", name=name, nature=EditNature.DEFAULT
        )


DISCOVERY = "https://discovery.talos.dev/"
_CRI_FILE = "/etc/cri/conf.d/20-customization.part"
_CRI_NAME = "machine-files"


def migrate_overlay_and_environment(draft: ConfigDraft) -> None:
    """Migrate KubeSpan and environment variables, contract 1.13."""
    reason = "KubeSpan moves to KubeSpanConfig"
    overlay = as_mapping(draft.take("machine.network.kubespan", reason))
    if overlay:
        draft.put("KubeSpanConfig", overlay, reason)
    reason = "environment variables move to EnvironmentConfig"
    variables = as_mapping(draft.take("machine.env", reason))
    if variables:
        draft.put("EnvironmentConfig", {"variables": variables}, reason)
    if draft.get("machine.network") == {}:
        draft.take("machine.network", "it is empty", EditNature.REMOVED)


def migrate_kernel_command_line(draft: ConfigDraft) -> None:
    """Adopt the default of 1.12: GRUB uses kernel arguments of the image."""
    install = draft.section("machine.install")
    if not draft.adopt or draft.fragment or not install or install.get("extraKernelArgs"):
        return
    if install.get("grubUseUKICmdline") is None:
        draft.replace(
            "machine.install.grubUseUKICmdline",
            True,
            "a default of 1.12: GRUB uses the kernel arguments of the image",
            EditNature.DEFAULT,
        )


def migrate_system(draft: ConfigDraft) -> None:
    """Migrate discovery, installation, DNS, kernel, files and image cache, contract 1.14."""
    _discovery(draft)
    _install(draft)
    _host_dns(draft)
    _kernel(draft)
    _files(draft)
    _image_cache(draft)


def _discovery(draft: ConfigDraft) -> None:
    reason = "the identity of the cluster moves to DiscoveryIdentityConfig"
    if draft.fragment or (draft.get("cluster.id") and draft.get("cluster.secret")):
        identity = {
            "clusterID": draft.take("cluster.id", reason),
            "clusterSecret": draft.take("cluster.secret", reason),
        }
        fields = {key: value for key, value in identity.items() if value is not None}
        if fields:
            draft.put("DiscoveryIdentityConfig", fields, reason)
    _discovery_service(draft)


def _discovery_service(draft: ConfigDraft) -> None:
    section = draft.section("cluster.discovery")
    if not section:
        return
    registries = as_mapping(section.get("registries"))
    service = as_mapping(registries.get("service"))
    in_kubernetes = as_mapping(registries.get("kubernetes")).get("disabled") is not True
    if section.get("enabled") is True and in_kubernetes and not draft.fragment:
        draft.keep(
            "cluster.discovery",
            why="machines also find each other through Kubernetes, which no document supports",
            fix="set cluster.discovery.registries.kubernetes.disabled to true first",
        )
        return
    reason = "discovery moves to DiscoveryServiceConfig"
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
        draft.keep(
            "machine.install",
            why=why,
            fix="put extensions and kernel arguments into the schematic of the image, then migrate",
        )
        return
    reason = "the installation moves to UnattendedInstallConfig"
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
        return "without an image the running version would choose another installer"
    if disk_expression(install) is None:
        return "it has no disk"
    return None


def _host_dns(draft: ConfigDraft) -> None:
    reason = "the DNS cache of the machine moves to ResolverConfig"
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
        reason = f"{path.partition('.')[2]} moves to {kind}"
        value = draft.take(path, reason)
        if value:
            draft.put(kind, {field: value}, reason)
    modules = as_mappings(draft.get("machine.kernel.modules"))
    names = [as_text(module.get("name")) for module in modules]
    if len(set(names)) != len(names):
        draft.keep(
            "machine.kernel.modules",
            why="a module is listed twice, but there is one document per module",
            fix="merge the two entries",
        )
        return
    reason = "kernel modules move to KernelModuleConfig"
    draft.take("machine.kernel", reason)
    for module in modules:
        fields = select_fields(module, "parameters")
        draft.put("KernelModuleConfig", fields, reason, name=as_text(module.get("name")))


def _files(draft: ConfigDraft) -> None:
    files = as_mappings(draft.get("machine.files"))
    runtime = [file for file in files if file.get("path") == _CRI_FILE]
    remaining = [file for file in files if file.get("path") != _CRI_FILE]
    if runtime:
        reason = "settings of containerd move to CRICustomizationConfig"
        draft.replace("machine.files", remaining or None, reason)
        content = "\n".join(as_text(file.get("content")).rstrip("\n") for file in runtime) + "\n"
        draft.put("CRICustomizationConfig", {"content": content}, reason, name=_CRI_NAME)
    if remaining:
        paths = ", ".join(as_text(file.get("path")) for file in remaining)
        draft.keep(
            "machine.files",
            why=f"an EtcFileConfig only writes below /etc, but not {paths}",
            fix="put the files into a system extension or a volume; `talosctl validate --strict`"
            " refuses them",
        )


def _image_cache(draft: ConfigDraft) -> None:
    reason = "the image cache moves to ImageCacheConfig"
    section = as_mapping(draft.take("machine.features.imageCache", reason))
    if section.get("localEnabled") is not None:
        draft.put("ImageCacheConfig", {"local": {"enabled": section["localEnabled"]}}, reason)


def document_name(text: str, taken: set[str]) -> str:
    """Return a valid, unused document name for a text."""
    name = re.sub(r"[^a-z0-9.-]+", "-", text.lower()).strip("-.")[:60].strip("-.") or "manifest"
    free = name
    number = 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    taken.add(free)
    return free
