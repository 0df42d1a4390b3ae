"""Settings of a Talos machine that the whole cluster, a class or one node may give."""

from __future__ import annotations

from dataclasses import field
from ipaddress import IPv4Address
from typing import Annotated

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.shapes import (
    ARGUMENT,
    DEVICE,
    DIRECTORY,
    DNS_LABEL,
    HOST_OR_ADDRESS,
    IPV4,
    LOG_URL,
    NON_EMPTY,
    PARAMETER,
    REPOSITORY_FILE,
    SUBNET,
    VARIABLE,
    DurationText,
    Example,
)
from stockman.model.volumes import SystemVolume, Volume

Arguments = dict[Annotated[str, ARGUMENT], str]
HostNames = Annotated[tuple[Annotated[str, HOST_OR_ADDRESS], ...], NON_EMPTY]


@record
class KubeletMount(Traced):
    """A directory of the machine that the kubelet sees."""

    source: Annotated[str, DIRECTORY]
    """Directory of the machine."""
    destination: Annotated[str, DIRECTORY] | None = None
    """Where the kubelet sees it. None: in the same place."""
    options: tuple[str, ...] = ("bind", "rshared", "rw")
    """Options of the mount."""


@record
class KubeletSettings(Traced):
    """Settings of the kubelet."""

    extra_args: Arguments = field(default_factory=dict)
    """Arguments by name, without dashes."""
    extra_config: dict[str, object] = field(default_factory=dict)
    """Keys of its configuration file, such as `maxPods`."""
    extra_mounts: tuple[KubeletMount, ...] = ()
    """Directories besides those that Talos gives it; up to contract 1.13, user volumes are
    mounted anyway."""
    cluster_dns: tuple[IPv4Address, ...] = ()
    """DNS servers of pods. Empty: `kubernetes.coredns_addr`."""
    node_ip_subnets: tuple[Annotated[str, SUBNET], ...] = ()
    """Networks that the node's address in Kubernetes is taken from. Empty: the node network."""


@record
class Watchdog(Traced):
    """A hardware timer that reboots a machine which hangs."""

    device: Annotated[str, DEVICE] = "/dev/watchdog0"
    """Device; QEMU offers `i6300esb`."""
    timeout: DurationText = "1m"
    """How long a machine may hang; from 10s to 1h."""


@record
class Nvidia(Traced):
    """What a machine needs for cards of NVIDIA besides the extensions."""

    enabled: bool | None = None
    """Whether the kernel modules are loaded. None: when the extensions of the driver are there."""
    default_runtime: bool = False
    """Whether every container may use the cards, not only those that name the runtime class."""


@record
class MachineSettings(Traced):
    """Settings of machines; lists of a node add to those of the cluster, and its names win."""

    sysctls: dict[Annotated[str, PARAMETER], str] = field(default_factory=dict)
    """Kernel parameters under `/proc/sys`."""
    sysfs: dict[Annotated[str, PARAMETER], str] = field(default_factory=dict)
    """Kernel parameters under `/sys`, with dots for slashes."""
    udev_rules: tuple[Annotated[str, Example('SUBSYSTEM=="drm", GROUP="44"')], ...] = ()
    """Rules of udev."""
    environment: dict[Annotated[str, VARIABLE], str] = field(default_factory=dict)
    """Environment variables of Talos' services, such as proxies."""
    host_entries: dict[Annotated[str, IPV4], HostNames] = field(default_factory=dict)
    """Names by address, for `/etc/hosts`."""
    kubelet: KubeletSettings = KubeletSettings()
    """The kubelet."""
    ephemeral: SystemVolume = SystemVolume()
    """The volume EPHEMERAL."""
    volumes: tuple[Volume, ...] = ()
    """Volumes besides those of the system."""
    watchdog: Watchdog | None = None
    """None: no watchdog."""
    kernel_logs: dict[Annotated[str, DNS_LABEL], Annotated[str, LOG_URL]] = field(
        default_factory=dict
    )
    """Where kernel messages are sent to, by name."""
    trusted_roots: dict[Annotated[str, DNS_LABEL], Annotated[str, REPOSITORY_FILE]] = field(
        default_factory=dict
    )
    """Files with CAs that Talos trusts besides the public ones, by name."""
    nvidia: Nvidia = Nvidia()
    """Cards of NVIDIA."""
