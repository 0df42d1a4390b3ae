"""The drive: which files it holds, as whose label, and its bytes."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from stockman.talos.nocloud.iso_writer import LABEL, nocloud_image
from stockman_lab.images.iso_folders import folders_image
from stockman_lab.pve.cloudinit.network_config import (
    interfaces_file,
    network_version_1,
    split_ip4,
    windows_interfaces_file,
)
from stockman_lab.pve.cloudinit.settings import (
    CONFIGDRIVE2,
    NOCLOUD,
    CloudInitError,
    Settings,
    pairs,
)
from stockman_lab.pve.cloudinit.user_data import user_data

SIZE = 4 << 20
"""Bytes of the volume, whatever is on it."""
_MOST = 3 << 20
_PARTS = ("user", "network", "meta", "vendor")

Snippet: TypeAlias = Callable[[str], bytes]
"""The content of a snippet by its volume id.

Where there is none it raises what Proxmox VE says: `can't find file 'local:snippets/a.yaml'`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A drive, before it is bytes."""

    label: str
    files: dict[str, bytes]
    """By path, `user-data`."""

    def image(self, moment: datetime) -> bytes:
        """The bytes of the volume: an ISO image, and zeros up to its size."""
        if self.label == LABEL:
            image = nocloud_image(self.files, moment)
        else:
            image = folders_image(self.files, moment, self.label)
        return image.ljust(SIZE, b"\x00")


def drive(settings: Settings, snippet: Snippet) -> Drive:
    """What is on the drive of a VM when it is made now."""
    own = _snippets(settings, snippet)
    if settings.form == NOCLOUD:
        return _nocloud(settings, own)
    if settings.form == CONFIGDRIVE2:
        return _configuration_drive(settings, own)
    return Drive(label="CONTEXT", files={"context.sh": _opennebula(settings).encode()})


def _snippets(settings: Settings, snippet: Snippet) -> dict[str, bytes]:
    snippets = {}
    for name, volume in pairs(settings.get("cicustom") or "").items():
        if name in _PARTS and volume:
            if not volume.partition(":")[2].startswith("snippets/"):
                raise CloudInitError(f"{volume} is not in the snippets directory")
            snippets[name] = snippet(volume)
    return snippets


def _nocloud(settings: Settings, own: dict[str, bytes]) -> Drive:
    user = own.get("user", user_data(settings).encode())
    network = own["network"] if "network" in own else network_version_1(settings).encode()
    meta = own.get("meta", f"instance-id: {_instance(user, network)}\n".encode())
    vendor = own.get("vendor", b"")
    return _checked(
        LABEL,
        {"user-data": user, "network-config": network, "meta-data": meta, "vendor-data": vendor},
    )


def _configuration_drive(settings: Settings, own: dict[str, bytes]) -> Drive:
    user = own.get("user", user_data(settings).encode())
    made = windows_interfaces_file if settings.is_windows else interfaces_file
    network = own["network"] if "network" in own else made(settings).encode()
    meta = own.get("meta", _configuration_meta(settings, _instance(user, network)).encode())
    return _checked(
        "config-2",
        {
            "openstack/latest/user_data": user,
            "openstack/content/0000": network,
            "openstack/latest/meta_data.json": meta,
            "openstack/latest/vendor_data.json": own.get("vendor", b""),
        },
    )


def _configuration_meta(settings: Settings, instance: str) -> str:
    if not settings.is_windows:
        return configuration_meta(instance)
    said: dict[str, object] = {
        "uuid": instance,
        "network_config": {"content_path": "/content/0000"},
    }
    if settings.get("cipassword"):
        said["admin_pass"] = settings.get("cipassword")
    keys = settings.ssh_keys
    if keys:
        said["public_keys"] = {f"key-{number}": key for number, key in enumerate(keys)}
    return json.dumps(said, separators=(",", ":"))


def configuration_meta(instance: str) -> str:
    """`meta_data.json` of a configuration drive for Linux."""
    path = '{ "content_path": "/content/0000" }'
    return f'{{\n     "uuid": "{instance}",\n     "network_config": {path}\n}}\n'


def _opennebula(settings: Settings) -> str:
    lines = [f"USERNAME={settings.get('ciuser') or 'root'}"]
    password = settings.get("cipassword")
    if password is not None:
        encoded = base64.encodebytes(password.encode()).decode()
        lines.append(f"CRYPTED_PASSWORD_BASE64={encoded}")
    if settings.ssh_keys is not None:
        lines.append('SSH_PUBLIC_KEY="' + "\n".join(settings.ssh_keys) + '"')
    lines.append(f"SET_HOSTNAME={settings.names[0]}")
    if settings.nameservers:
        lines.append(f'DNS="{" ".join(settings.nameservers)}"')
    if settings.search_domains:
        lines.append(f'SEARCH_DOMAIN="{" ".join(settings.search_domains)}"')
    speaks = False
    for card in settings.cards():
        name = f"ETH{card.number}"
        mtu = [f"{name}_MTU={card.mtu}"] if card.mtu else []
        if card.ip == "dhcp":
            lines += [f"{name}_DHCP=YES", *mtu]
        elif card.ip:
            address, mask = split_ip4(card.ip)
            # The key that Proxmox VE looks the address up by does not exist: it is empty.
            lines += [f"{name}_IP={address}", f"{name}_MASK={mask}", f"{name}_MAC="]
            lines += ([f"{name}_GATEWAY={card.gw}"] if card.gw else []) + mtu
        if card.ip6 in ("dhcp", "auto"):
            lines += [f"{name}_{'DHCP6' if card.ip6 == 'dhcp' else 'AUTO6'}=YES", *mtu]
        elif card.ip6:
            address, _, prefix = card.ip6.partition("/")
            lines += [f"{name}_IP6={address}", f"{name}_MASK6={prefix}", f"{name}_MAC6="]
            lines += ([f"{name}_GATEWAY6={card.gw6}"] if card.gw6 else []) + mtu
        speaks = speaks or bool(card.ip or card.ip6)
    return "\n".join([*lines, *(["NETWORK=YES"] if speaks else [])]) + "\n"


def _instance(user: bytes, network: bytes) -> str:
    return hashlib.sha1(user + network, usedforsecurity=False).hexdigest()


def _checked(label: str, files: dict[str, bytes]) -> Drive:
    if sum(map(len, files.values())) > _MOST:
        raise CloudInitError("Cloud-Init sum of snippets too big (> 3 MiB)")
    return Drive(label=label, files=files)


def dump(settings: Settings, kind: str, *, mask_password: bool = False) -> str:
    """What `cloudinit/dump` shows: generated texts, whatever `cicustom` says."""
    if kind == "user":
        return user_data(settings, mask_password=mask_password)
    is_nocloud = settings.form == NOCLOUD
    network = network_version_1(settings) if is_nocloud else interfaces_file(settings)
    if kind == "network":
        return network
    instance = _instance(user_data(settings).encode(), network.encode())
    return f"instance-id: {instance}\n" if is_nocloud else configuration_meta(instance)
