"""Settings of a machine besides its network: disks, registries, files, features."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """A certificate and its key, both PEM; an empty key: it can be checked against, not used."""

    crt: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallSetting:
    """Where and what is installed."""

    disk: str = ""
    """`/dev/sda`. Empty: it is told in another way."""
    selector: dict[str, str] = field(default_factory=dict)
    """`size`, `model`, `serial`, `type`, `busPath`: of old configurations."""
    expression: str = ""
    """Which disk, as CEL whichever way it is told: `disk.dev_path == "/dev/sda"`."""
    image: str = ""
    wipe: bool = False
    extra_kernel_args: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    uses_uki_cmdline: bool = False
    """Whether GRUB takes kernel arguments from the image."""
    is_unattended: bool = False
    """Told by a document of its own, of 1.14."""
    reboots: bool = True
    """Of an unattended install: whether the machine starts again afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSetting:
    """A volume of the system or a user's."""

    name: str
    kind: str = "system"
    """`system`, `user`, `raw`, `swap`, `existing`, `external`, `disk` (old `machine.disks`)."""
    volume_type: str = "partition"
    """Of user volumes: `partition`, `disk`, `directory`."""
    disk_match: str = ""
    """CEL. Empty: the system's disk."""
    min_size: str = ""
    max_size: str = ""
    grow: bool | None = None
    """None: as the volume has it."""
    filesystem: str = ""
    encryption: tuple[str, ...] = ()
    """Kinds of keys in order of slots: `static`, `nodeID`, `kms`, `tpm`; empty: not encrypted."""
    mount: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrySetting:
    """How images of one registry are fetched."""

    name: str
    mirrors: tuple[str, ...] = ()
    overrides_path: bool = False
    skips_fallback: bool = False
    username: str = ""
    password: str = ""
    auth: str = ""
    identity_token: str = ""
    ca: str = ""
    insecure: bool = False
    has_client_identity: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What is switched on."""

    rbac: bool = True
    checks_key_usage: bool = True
    disk_quota: bool = False
    kube_prism_port: int = 0
    """0: off."""
    host_dns: bool = False
    forwards_kube_dns: bool = False
    resolves_member_names: bool = False
    talos_api_access: bool = False
    talos_api_roles: tuple[str, ...] = ()
    talos_api_namespaces: tuple[str, ...] = ()
    image_cache: bool = False
    address_sorting: str = "v1"
    workload_isolation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """How members of a cluster find each other."""

    enabled: bool = False
    service: str = ""
    """Where; empty: not used."""
    kubernetes: bool = False
    """Whether nodes of Kubernetes are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeSpan:
    """Encrypted tunnels between members."""

    enabled: bool = False
    advertises_networks: bool = False
    allows_down_peer_bypass: bool = False
    harvests_endpoints: bool = False
    mtu: int = 1420
    extra_endpoints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FirewallRule:
    """Who may come in, to which ports."""

    name: str
    protocol: str = "tcp"
    ports: tuple[str, ...] = ()
    """`50000` or `2379-2380`."""
    subnets: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file that Talos writes."""

    path: str
    content: str
    permissions: int = 0o644
    operation: str = "create"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionService:
    """Settings of a service that an extension brings."""

    name: str
    files: dict[str, str] = field(default_factory=dict)
    """Contents by path."""
    environment: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelModule:
    """A module that is loaded at boot."""

    name: str
    parameters: tuple[str, ...] = ()
