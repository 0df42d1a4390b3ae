"""Contracts 1.12 to 1.14: host, registries, volumes, overlay network, installation and kernel."""

from __future__ import annotations

import json
import re

from stockman.talos.documents import as_mapping, as_mappings, as_text, as_texts
from stockman.talos.migration.draft import (
    ConfigDraft,
    EditNature,
    Plain,
    decode_base64,
    select_fields,
)
from stockman.talos.patches.scalars import parse_size

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
    draft.move("machine.network.kubespan", "KubeSpanConfig", "KubeSpan moves to KubeSpanConfig")
    reason = "environment variables move to EnvironmentConfig"
    draft.move("machine.env", "EnvironmentConfig", reason, "variables")
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
    reason = "the DNS cache of the machine moves to ResolverConfig"
    draft.move("machine.features.hostDNS", "ResolverConfig", reason, "hostDNS")
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


def _kernel(draft: ConfigDraft) -> None:
    for path, kind, field in (
        ("machine.sysctls", "SysctlConfig", "params"),
        ("machine.sysfs", "SysfsConfig", "params"),
        ("machine.udev.rules", "UdevRulesConfig", "rules"),
        ("machine.baseRuntimeSpecOverrides", "CRIBaseRuntimeSpecConfig", "overrides"),
    ):
        draft.move(path, kind, f"{path.partition('.')[2]} moves to {kind}", field)
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
    section = draft.take_section("machine.features.imageCache", reason)
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


_BY_LINK = "/dev/disk/"
_PATTERNS = ("uuid", "wwid", "model", "serial", "modalias")
_TYPES = {
    "nvme": 'disk.transport == "nvme"',
    "sd": 'disk.transport == "mmc"',
    "hdd": "disk.rotational",
    "ssd": "!disk.rotational",
}
_WILDCARD = "*"


def disk_expression(install: Plain) -> str | None:
    """Return the expression for `disk` or `diskSelector`; None: neither is set."""
    selector = as_mapping(install.get("diskSelector"))
    if selector:
        return _selector_expression(selector)
    path = as_text(install.get("disk"))
    if not path:
        return None
    if path.startswith(_BY_LINK):
        return f"{_quote(path)} in disk.symlinks"
    return f"disk.dev_path == {_quote(path)}"


def _selector_expression(selector: Plain) -> str:
    serial = as_text(selector.get("serial"))
    if set(selector) == {"serial"} and serial and _WILDCARD not in serial:
        return f"disk.serial == {_quote(serial)}"
    terms = [_size(as_text(selector["size"]))] if selector.get("size") else []
    terms += [
        f"glob({_quote(as_text(selector[field]))}, disk.{field})"
        for field in _PATTERNS
        if selector.get(field)
    ]
    terms.append('disk.transport != ""')
    if selector.get("type"):
        terms.append(_TYPES.get(as_text(selector["type"]), "false"))
    if selector.get("busPath"):
        terms.append(f"glob({_quote(as_text(selector['busPath']))}, disk.bus_path)")
    return " && ".join([*terms, "!disk.readonly", "!disk.cdrom"])


def _size(condition: str) -> str:
    bare = condition.strip()
    operator = next((sign for sign in ("<=", ">=", "==", "<", ">") if bare.startswith(sign)), "")
    return f"disk.size {operator or '=='} {parse_size(bare.removeprefix(operator).strip())}u"


def _quote(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


_REMOVED_FIELDS = {
    "machine.features.rbac": "roles are always enforced from 1.12 on",
    "machine.features.apidCheckExtKeyUsage": "key usage is always checked from 1.12 on",
    "cluster.apiServer.disablePodSecurityPolicy": "Kubernetes has no pod security policies",
}


def migrate_host(draft: ConfigDraft) -> None:
    _hostname(draft)
    _resolvers(draft)
    _hosts(draft)
    _time(draft)
    for path, reason in _REMOVED_FIELDS.items():
        draft.take(path, reason, EditNature.REMOVED)


def _hostname(draft: ConfigDraft) -> None:
    reason = "the hostname moves to HostnameConfig"
    name = draft.take("machine.network.hostname", reason)
    stable = draft.take("machine.features.stableHostname", reason)
    if name:
        draft.put("HostnameConfig", {"hostname": name, "auto": "off"}, reason)
    elif stable is True:
        draft.put("HostnameConfig", {"auto": "stable"}, reason)


def _resolvers(draft: ConfigDraft) -> None:
    reason = "resolvers move to ResolverConfig"
    fields: Plain = {}
    servers = draft.take("machine.network.nameservers", reason)
    if servers:
        fields["nameservers"] = [{"address": address} for address in as_texts(servers)]
    search: Plain = {}
    domains = draft.take("machine.network.searchDomains", reason)
    if domains:
        search["domains"] = domains
    if draft.take("machine.network.disableSearchDomain", reason) is True:
        search["disableDefault"] = True
    if search:
        fields["searchDomains"] = search
    draft.put("ResolverConfig", fields, reason)


def _hosts(draft: ConfigDraft) -> None:
    reason = "host entries move to StaticHostConfig"
    names: dict[str, list[str]] = {}
    for entry in as_mappings(draft.take("machine.network.extraHostEntries", reason)):
        known = names.setdefault(str(entry.get("ip", "")), [])
        known += [alias for alias in as_texts(entry.get("aliases")) if alias not in known]
    for address, aliases in names.items():
        draft.put("StaticHostConfig", {"hostnames": aliases}, reason, name=address)


def _time(draft: ConfigDraft) -> None:
    reason = "time servers move to TimeSyncConfig"
    section = draft.take_section("machine.time", reason)
    fields = select_fields(section, "bootTimeout")
    if section.get("disabled") is not None:
        fields["enabled"] = not section["disabled"]
    if section.get("servers"):
        fields["ntp"] = {"servers": section["servers"]}
    draft.put("TimeSyncConfig", fields, reason)


def migrate_registries(draft: ConfigDraft) -> None:
    reason = "registries move to RegistryMirror-, RegistryAuth- and RegistryTLSConfig documents"
    section = draft.take_section("machine.registries", reason)
    for host, settings in as_mapping(section.get("mirrors")).items():
        draft.put("RegistryMirrorConfig", _mirror(as_mapping(settings)), reason, name=host)
    for host, settings in as_mapping(section.get("config")).items():
        login = as_mapping(as_mapping(settings).get("auth"))
        if login:
            draft.put("RegistryAuthConfig", login, reason, name=host)
        tls = _tls(as_mapping(as_mapping(settings).get("tls")))
        if tls:
            draft.put("RegistryTLSConfig", tls, reason, name=host)


def _mirror(mirror: Plain) -> Plain:
    keeps_path: Plain = {"overridePath": True} if mirror.get("overridePath") is True else {}
    endpoints = [{"url": url, **keeps_path} for url in as_texts(mirror.get("endpoints"))]
    return {"endpoints": endpoints, **select_fields(mirror, "skipFallback")}


def _tls(tls: Plain) -> Plain:
    fields: Plain = {}
    identity = as_mapping(tls.get("clientIdentity"))
    if identity:
        fields["clientIdentity"] = {
            "cert": decode_base64(identity.get("crt")),
            "key": decode_base64(identity.get("key")),
        }
    if tls.get("ca"):
        fields["ca"] = decode_base64(tls["ca"])
    return fields | select_fields(tls, "insecureSkipVerify")
