"""Volumes and registries, out of the v1alpha1 document and out of documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman_lab.talos.config.documents import Documents
from stockman_lab.talos.config.node_setting import RegistrySetting, VolumeSetting
from stockman_lab.talos.config.values import Tree, at, decoded, flag, mapping, mappings, text, texts

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
        for part in mappings(disk.get("partitions")):
            match = f'disk.dev_path == "{text(disk.get("device"))}"'
            yield VolumeSetting(
                name=text(part.get("mountpoint")),
                kind="disk",
                disk_match=match,
                max_size=text(part.get("size")),
                filesystem="xfs",
            )


def _volume(kind: str, told: Tree) -> VolumeSetting:
    provisioning = mapping(told.get("provisioning"))
    grow = provisioning.get("grow")
    discovered = at(told, "discovery", "volumeSelector", "match")
    default = "xfs" if kind == "user" else ""
    return VolumeSetting(
        name=text(told.get("name")),
        kind=kind,
        volume_type=text(told.get("volumeType"), "partition"),
        disk_match=text(at(provisioning, "diskSelector", "match")) or text(discovered),
        min_size=text(provisioning.get("minSize")),
        max_size=text(provisioning.get("maxSize")),
        grow=None if grow is None else flag(grow),
        filesystem=text(at(told, "filesystem", "type"))
        or text(told.get("filesystemType"))
        or default,
        encryption=_encryption(mapping(told.get("encryption"))),
        mount=mapping(told.get("mount")),
    )


def _encryption(told: Tree) -> tuple[str, ...]:
    keys = sorted(mappings(told.get("keys")), key=lambda one: text(one.get("slot")))
    return tuple(next((kind for kind in _KEYS if kind in key), "") for key in keys)


def registries(documents: Documents) -> dict[str, RegistrySetting]:
    """Registries by name: mirrors, and how each host is spoken to."""
    registry_settings: dict[str, RegistrySetting] = {}

    def known(name: str) -> RegistrySetting:
        return registry_settings.get(name) or RegistrySetting(name=name)

    old = mapping(documents.machine.get("registries"))
    for name, told in mapping(old.get("mirrors")).items():
        registry_settings[name] = replace(
            known(name),
            mirrors=texts(at(told, "endpoints")),
            overrides_path=flag(at(told, "overridePath")),
            skips_fallback=flag(at(told, "skipFallback")),
        )
    for name, told in mapping(old.get("config")).items():
        tls = mapping(at(told, "tls"))
        registry_settings[name] = _tls(
            _login(known(name), mapping(at(told, "auth"))), tls, is_old=True
        )
    for document in documents.all("RegistryMirrorConfig"):
        name, endpoints = text(document.get("name")), list(mappings(document.get("endpoints")))
        registry_settings[name] = replace(
            known(name),
            mirrors=tuple(text(each.get("url")) for each in endpoints),
            overrides_path=any(flag(each.get("overridePath")) for each in endpoints),
            skips_fallback=flag(document.get("skipFallback")),
        )
    for document in documents.all("RegistryAuthConfig"):
        name = text(document.get("name"))
        registry_settings[name] = _login(known(name), document)
    for document in documents.all("RegistryTLSConfig"):
        name = text(document.get("name"))
        registry_settings[name] = _tls(known(name), document, is_old=False)
    return registry_settings


def _login(registry: RegistrySetting, told: Tree) -> RegistrySetting:
    return replace(
        registry,
        username=text(told.get("username")),
        password=text(told.get("password")),
        auth=text(told.get("auth")),
        identity_token=text(told.get("identityToken")),
    )


def _tls(registry: RegistrySetting, told: Tree, *, is_old: bool) -> RegistrySetting:
    ca = decoded(told.get("ca")) if is_old else text(told.get("ca"))
    return replace(
        registry,
        ca=ca,
        insecure=flag(told.get("insecureSkipVerify")),
        has_client_identity=isinstance(told.get("clientIdentity"), dict),
    )
