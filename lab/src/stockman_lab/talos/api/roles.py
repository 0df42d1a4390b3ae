"""Who may call what: roles of the caller's certificate, by method and minor."""

from __future__ import annotations

ADMIN = "os:admin"
OPERATOR = "os:operator"
READER = "os:reader"
ETCD_BACKUP = "os:etcd:backup"
IMPERSONATOR = "os:impersonator"
IMAGE_VERIFIER = "os:image:verifier"
META_WRITER = "os:meta:writer"

_OWN_IMAGES = (1, 13)
"""Since this minor some more may be called by readers, and there are two more roles."""

_ALL = frozenset({ADMIN, OPERATOR, READER})
_ACTING = frozenset({ADMIN, OPERATOR})
_ONLY_ADMIN = frozenset({ADMIN})
_AT_FIRST = frozenset({ADMIN, READER})

_READING = """
Version Hostname SystemStat LoadAvg Memory CPUInfo CPUFreqStats DiskStats DiskUsage
NetworkDeviceStats Netstat Mounts Processes Containers Stats List Dmesg Events Logs LogsContainers
ServiceList ImageList
"""
_ETCD_READING = "EtcdMemberList EtcdStatus EtcdAlarmList"
_MACHINE_ACTING = """
Reboot Shutdown Restart ServiceStart ServiceStop ServiceRestart EtcdAlarmDisarm EtcdDefragment
PacketCapture ImagePull
"""


def _machine(names: str, roles: frozenset[str]) -> dict[str, frozenset[str]]:
    return {f"/machine.MachineService/{name}": roles for name in names.split()}


_RULES: dict[str, frozenset[str]] = {
    **_machine(_READING, _ALL),
    **_machine(_ETCD_READING, _ALL | {ETCD_BACKUP}),
    **_machine("EtcdSnapshot", _ACTING | {ETCD_BACKUP}),
    **_machine(_MACHINE_ACTING, _ACTING),
    "/machine.ImageService/List": _ALL,
    "/machine.ImageService/Pull": _ACTING,
    "/machine.ImageService/Verify": _ALL | {IMAGE_VERIFIER},
    "/storage.StorageService/Disks": _ALL,
    "/cluster.ClusterService/HealthCheck": _ALL,
    "/cosi.resource.State/Get": _ALL,
    "/cosi.resource.State/List": _ALL,
    "/cosi.resource.State/Watch": _ALL,
}
"""A method without a rule needs an admin."""

_SERVICE_RULES = {"time.TimeService": _ALL, "inspect.InspectService": _ALL}

_NEWER: dict[str, frozenset[str]] = {
    **_machine("ApplyConfiguration", _AT_FIRST),
    **_machine("MetaWrite MetaDelete", _ONLY_ADMIN | {META_WRITER}),
    "/storage.StorageService/BlockDeviceWipe": _AT_FIRST,
}
_NEWER_SERVICES = {"machine.LVMService": _AT_FIRST, "machine.MDService": _AT_FIRST}
"""Rules of the newer minors. What readers may do here, they may do in maintenance only."""


def allowed(path: str, minor: str) -> frozenset[str]:
    """The roles of which a caller needs one."""
    service = path.strip("/").partition("/")[0]
    major, _, number = minor.partition(".")
    if (int(major), int(number)) >= _OWN_IMAGES:
        newer = _NEWER.get(path) or _NEWER_SERVICES.get(service)
        if newer is not None:
            return newer
    return _RULES.get(path) or _SERVICE_RULES.get(service) or _ONLY_ADMIN


def reads_at_first_only(path: str) -> bool:
    """Whether readers may call a method in maintenance alone."""
    service = path.strip("/").partition("/")[0]
    return (_NEWER.get(path) or _NEWER_SERVICES.get(service)) == _AT_FIRST


def only_reads(path: str) -> bool:
    """Whether a call leaves the world as it is."""
    service = path.strip("/").partition("/")[0]
    return READER in (_RULES.get(path) or _SERVICE_RULES.get(service) or frozenset())
