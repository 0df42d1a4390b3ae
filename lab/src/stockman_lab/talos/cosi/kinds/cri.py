"""The container runtime: where images come from."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.content import Contents
from stockman_lab.talos.cosi.facts import is_configured
from stockman_lab.talos.cosi.registry import kind

if TYPE_CHECKING:
    from stockman_lab.talos.config.node_setting import RegistrySetting
    from stockman_lab.talos.machine import Machine

_TOGETHER = "1.11"
"""The minor that keeps passwords and certificates of a registry in one place."""


@kind("RegistryConfigs.cri.talos.dev", "cri.RegistriesConfigController")
def registry_configs(machine: Machine) -> Contents:
    config = machine.config
    registries = config.registries if config is not None else {}
    mirrors = {name: _mirror(registry) for name, registry in registries.items() if registry.mirrors}
    auths = {name: auth for name, registry in registries.items() if (auth := _auth(registry))}
    tls = {name: auth for name, registry in registries.items() if (auth := _tls(registry))}
    if machine.minor == _TOGETHER:
        names = dict.fromkeys((*auths, *tls))
        together = {name: {"auth": auths.get(name), "tls": tls.get(name)} for name in names}
        return {"registries": {"mirrors": mirrors, "config": together}}
    return {"registries": {"mirrors": mirrors, "auths": auths, "tls": tls}}


def _mirror(setting: RegistrySetting) -> dict[str, object]:
    endpoints = [
        {"endpoint": mirror, "overridePath": setting.overrides_path} for mirror in setting.mirrors
    ]
    return {"endpoints": endpoints, "skipFallback": setting.skips_fallback}


def _auth(setting: RegistrySetting) -> dict[str, object]:
    found = {
        "username": setting.username,
        "password": setting.password,
        "auth": setting.auth,
        "identityToken": setting.identity_token,
    }
    return {key: text for key, text in found.items() if text}


def _tls(setting: RegistrySetting) -> dict[str, object]:
    tls: dict[str, object] = {}
    if setting.ca:
        tls["ca"] = base64.b64encode(setting.ca.encode()).decode("ascii")
    if setting.insecure:
        tls["insecureSkipVerify"] = True
    return tls


@kind("ImageCacheConfigs.cri.talos.dev", "cri.ImageCacheConfigController")
def image_cache_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None or not is_configured(machine):
        return {}
    if not config.features.image_cache:
        return {"image-cache": {"status": "disabled", "copyStatus": "skipped"}}
    spec = {"status": "ready", "copyStatus": "ready", "roots": ["/system/imagecache/disk"]}
    return {"image-cache": spec}
