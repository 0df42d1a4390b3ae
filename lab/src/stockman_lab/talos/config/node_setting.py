"""Settings of a machine besides its network: disks, registries, files, features."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """A certificate and its key, both PEM; an empty key: it can be checked against, not used."""

    crt: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallSetting:
    """Where and what is installed."""

    expression: str = ""
    """Which disk, as CEL whichever way it is told: `disk.dev_path == "/dev/sda"`."""
    image: str = ""
    is_unattended: bool = False
    """Told by a document of its own, of 1.14."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSetting:
    """A volume of the system or a user's."""

    name: str
    kind: str = "system"
    """`system`, `user`, `raw`, `swap`, `existing`, `external`, `disk` (old `machine.disks`)."""
    volume_type: str = "partition"
    """Of user volumes: `partition`, `disk`, `directory`."""
    min_size: str = ""
    max_size: str = ""
    filesystem: str = ""
    encryption: tuple[str, ...] = ()
    """Kinds of keys in order of slots: `static`, `nodeID`, `kms`, `tpm`; empty: not encrypted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What is switched on."""

    rbac: bool = True
    talos_api_access: bool = False
    talos_api_roles: tuple[str, ...] = ()
    talos_api_namespaces: tuple[str, ...] = ()
    address_sorting: str = "v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelModule:
    """A module that is loaded at boot."""

    name: str
