"""What a machine takes from the platform that it runs on: NoCloud drives, firmware, META."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from stockman_lab.guest.view import GuestView
from stockman_lab.talos.config.link_setting import LinkSetting
from stockman_lab.talos.config.nocloud_network import nocloud_network
from stockman_lab.talos.config.values import Tree, first, loaded, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Cmdline:
    """Arguments that Talos reads."""

    hostname: str = ""
    ignored: tuple[str, ...] = ()
    """Links that are left alone."""
    config_url: str = ""
    platform: str = ""
    predictable_names: bool = True
    """False: `eth0` and so on, as nocloud images have it."""


def cmdline(arguments: str | Iterable[str]) -> Cmdline:
    """What a kernel's arguments say; `ip`, `bond` and `vlan` are ignored."""
    words = arguments.split() if isinstance(arguments, str) else list(arguments)
    pairs = [word.partition("=")[::2] for word in words]

    def told(name: str) -> list[str]:
        return [value for key, value in pairs if key == name]

    def first(name: str) -> str:
        return next(iter(told(name)), "")

    return Cmdline(
        hostname=first("talos.hostname"),
        ignored=tuple(told("talos.network.interface.ignore")),
        config_url=first("talos.config"),
        platform=first("talos.platform"),
        predictable_names="0" not in told("net.ifnames"),
    )


_FIELDS = {
    "instance-id": "instanceId",
    "instance-type": "instanceType",
    "provider-id": "providerId",
    "region": "region",
    "zone": "zone",
    "local-hostname": "internalDNS",
    "public-hostname": "externalDNS",
}
"""Of `meta-data`, as the `PlatformMetadatas` resource calls them."""
_METAL_ISO = "metal-iso"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformData:
    """Everything that is known before there is a machine configuration."""

    platform: str = "metal"
    mode: str = "metal"
    """`cloud`: nothing has to be said of an installation."""
    hostname: str = ""
    links: tuple[LinkSetting, ...] = ()
    """A selector goes first; where no card fits it the name is taken."""
    nameservers: tuple[str, ...] = ()
    time_servers: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    """Fields of the `PlatformMetadatas` resource that are known."""
    machine_config: bytes | None = None
    """None: there is none, so that the machine waits for one in maintenance mode."""
    config_url: str = ""
    """Where one is to be fetched. Empty: nowhere."""
    cmdline: Cmdline = field(default_factory=Cmdline)


def platform_data(
    view: GuestView,
    kernel_args: str | Iterable[str],
    platform: str,
) -> PlatformData:
    """What a machine finds out when it starts."""
    arguments = cmdline(kernel_args)
    if platform == "nocloud":
        return _nocloud(view, arguments)
    url = "" if arguments.config_url == _METAL_ISO else arguments.config_url
    known = {"platform": platform, "instanceId": view.smbios.uuid, "hostname": arguments.hostname}
    return PlatformData(
        platform=platform,
        metadata={name: value for name, value in known.items() if value},
        config_url=url,
        cmdline=arguments,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Serial:
    """What the serial number of the machine says."""

    is_network: bool = False
    base_url: str = ""
    hostname: str = ""
    instance: str = ""


def _serial(serial: str) -> _Serial:
    pairs = dict(text.partition("=")[::2] for text in serial.split(";") if "=" in text)
    source = pairs.get("s", "")
    is_web = urlsplit(source).scheme.startswith("http")
    return _Serial(
        is_network=pairs.get("ds") == "nocloud-net",
        base_url=(source if source.endswith("/") else f"{source}/") if is_web else "",
        hostname=pairs.get("h", ""),
        instance=pairs.get("i", ""),
    )


def _nocloud(view: GuestView, arguments: Cmdline) -> PlatformData:
    serial = _serial(view.smbios.serial)
    if serial.is_network and serial.base_url:
        # Everything comes from there, and what it says is not known before the network is up.
        return PlatformData(
            platform="nocloud",
            mode="cloud",
            config_url=f"{serial.base_url}user-data",
            cmdline=arguments,
        )
    return nocloud_data(view.cloud_init or {}, serial.hostname, serial.instance, arguments)


def nocloud_data(
    files: Mapping[str, bytes],
    hostname: str = "",
    instance: str = "",
    arguments: Cmdline | None = None,
) -> PlatformData:
    """What the files of a drive or of a web server say; `hostname` and `instance` win over them."""
    user = files.get("user-data")
    known = _metadata(files, hostname, instance)
    name = known.get("hostname") or known.get("internalDNS", "")
    network = nocloud_network(files["network-config"]) if "network-config" in files else None
    config, url = _machine_config(user)
    arguments = arguments or Cmdline()
    if network is None:
        # Talos takes names and metadata only together with a network.
        return PlatformData(
            platform="nocloud",
            mode="cloud",
            machine_config=config,
            config_url=url,
            cmdline=arguments,
        )
    return PlatformData(
        platform="nocloud",
        mode="cloud",
        hostname=name,
        links=network.links,
        nameservers=network.nameservers,
        metadata={**known, "hostname": name, "platform": "nocloud"},
        machine_config=config,
        config_url=url,
        cmdline=arguments,
    )


def _metadata(files: Mapping[str, bytes], hostname: str, instance: str) -> dict[str, str]:
    told = first(loaded(files.get("meta-data", b""))) or {}
    texts = {ours: text(told.get(theirs)) for theirs, ours in _FIELDS.items()}
    texts["hostname"] = hostname or text(told.get("hostname"))
    texts["instanceId"] = instance or texts["instanceId"]
    if not texts["hostname"] and not texts["internalDNS"]:
        # Proxmox VE writes the name of a machine into user-data.
        user: Tree = first(loaded(files.get("user-data", b""))) or {}
        texts["hostname"] = text(user.get("hostname"))
        texts["internalDNS"] = text(user.get("local-hostname"))
    return {name: value for name, value in texts.items() if value}


def _machine_config(user: bytes | None) -> tuple[bytes | None, str]:
    """The configuration that user-data is, or where it comes from."""
    if not user:
        return None, ""
    head, _, rest = user.partition(b"\n")
    if head.strip() == b"#cloud-config":
        return None, ""
    if head.strip() == b"#include":
        urls = [line.strip() for line in rest.decode(errors="replace").splitlines()]
        urls = [line for line in urls if line]
        return None, urls[0] if len(urls) == 1 else ""
    return user, ""
