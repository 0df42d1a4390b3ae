"""Sequences as lists of phases, each with its tasks and how long it takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a sequence."""

    name: str
    tasks: tuple[str, ...]
    timing: str = "phase"
    """Of `timings`. Empty: it ends when something that it waits for is there."""


_DBUS = Phase("dbus", ("stopDBus",))
_STOP = Phase("stopServices", ("stopServicesEphemeral",), "stop")
_ALL = Phase("stopEverything", ("stopAllServices",))
_UNMOUNT = (
    Phase("umount", ("unmountPodMounts",), "unmount"),
    Phase("unmountBind", ("unmountBindMounts",)),
)
_SYSTEM = (
    Phase("unmountSystem", ("unmountEphemeral",)),
    Phase("volumeFinalize", ("teardownVolumeLifecycle",)),
)
_PROMOTABLE = Phase("unmountPromotable", ("unmountPromotableVolumes",))
_DENY = Phase("denyNewServices", ("denyNewServices",))
_CLEANUP = Phase("cleanup", ("stopAllPods",), "stop")
_KEXEC = Phase("kexec", ("kexecPrepare",), "kexec")
_REBOOT = Phase("reboot", ("reboot",))


def phases(name: str, minor: str, options: frozenset[str]) -> list[Phase]:
    """The phases of a sequence, in order; options are those of the request."""
    newest = _is_newest(minor)
    if name == "initialize":
        return [
            Phase("systemRequirements", ("enforceKSPPRequirements", "setupSystemDirectory")),
            Phase("integrity", ("writeIMAPolicy",)),
            Phase("etc", ("createSystemCgroups", "createOSReleaseFile")),
            Phase("earlyServices", ("startUdevd", "startMachined", "startContainerd")),
            Phase("usb", ("waitForUSB",)),
            Phase("meta", ("reloadMeta",)),
            Phase("dashboard", ("startDashboard",)),
        ]
    if name == "install":
        return [
            Phase("env", ("setUserEnvVars",)),
            Phase("install", ("install",), "install"),
            Phase("meta", ("reloadMeta",)),
            Phase("saveMeta", ("flushMeta",)),
            *([_DENY] if newest else []),
            Phase("volumeFinalize", ("teardownVolumeLifecycle",)),
            _ALL,
            _KEXEC,
            _REBOOT,
        ]
    if name == "boot":
        return [
            Phase("memorySizeCheck", ("memorySizeCheck",)),
            Phase("diskSizeCheck", ("diskSizeCheck",)),
            Phase("env", ("setUserEnvVars",)),
            Phase("dbus", ("startDBus",)),
            Phase("ephemeral", ("mountEphemeralPartition",), "boot"),
            *([Phase("promotableVolumes", ("mountPromotableVolumes",))] if newest else []),
            Phase("userSetup", ("writeUserFiles",)),
            Phase("startEverything", ("startAllServices",), ""),
        ]
    if name == "reboot":
        return _reboot(newest, options)
    if name == "shutdown":
        drain = [] if "force" in options else [Phase("drain", ("cordonAndDrainNode",), "drain")]
        return [
            Phase("storeShutdown", ("storeShutdownEmergency",)),
            *drain,
            _CLEANUP,
            _DBUS,
            *_stopping(newest),
            _ALL,
            Phase("shutdown", ("shutdown",)),
        ]
    if name == "upgrade":
        return [
            *([_DENY] if newest else []),
            Phase("drain", ("cordonAndDrainNode",), "drain"),
            _CLEANUP,
            _DBUS,
            *_stopping(newest),
            Phase("upgrade", ("upgrade",), "write"),
            Phase("meta", ("reloadMeta",)),
            *([] if "powercycle" in options else [_KEXEC]),
            _ALL,
            _REBOOT,
        ]
    if name == "stageUpgrade":
        return [_CLEANUP, _DBUS, *_stopping(newest), _ALL, _REBOOT]
    if name == "maintenanceUpgrade":
        return [
            Phase("upgrade", ("upgrade",), "write"),
            Phase("meta", ("reloadMeta",)),
            *([] if "powercycle" in options else [_KEXEC]),
            _ALL,
            _REBOOT,
        ]
    if name == "reset":
        return _reset(newest, options)
    raise KeyError(name)


def _is_newest(minor: str) -> bool:
    return tuple(map(int, minor.split("."))) >= (1, 14)


def _stopping(newest: bool) -> list[Phase]:
    return [
        *([_DENY] if newest else []),
        _STOP,
        *_UNMOUNT,
        *([_PROMOTABLE] if newest else []),
        *_SYSTEM,
    ]


def _reboot(newest: bool, options: frozenset[str]) -> list[Phase]:
    if "force" in options:
        return [_REBOOT]
    kexec = [] if "powercycle" in options else [_KEXEC]
    ending = [_ALL, *kexec, _REBOOT] if newest else [*kexec, _ALL, _REBOOT]
    return [_CLEANUP, _DBUS, *_stopping(newest), *ending]


def _reset(newest: bool, options: frozenset[str]) -> list[Phase]:
    dbuses: list[Phase] = []
    if "graceful" in options:
        dbuses += [Phase("drain", ("cordonAndDrainNode",), "drain"), _CLEANUP]
    dbuses.append(_DBUS)
    if {"graceful", "controlplane"} <= options:
        dbuses.append(Phase("leave", ("leaveEtcd",), "leave"))
    dbuses += [Phase("preReset", ("sendResetSignal",)), *_stopping(newest)]
    if "graceful" not in options:
        dbuses.append(Phase("forceCleanup", ("forceCleanup",)))
    if "user-disks" not in options:
        labels = "partitions" in options
        dbuses.append(
            Phase("resetSpec", ("resetSystemDiskSpec",), "wipe")
            if labels
            else Phase("reset", ("resetSystemDisk",), "wipe")
        )
    if "wipes-user-disks" in options:
        dbuses.append(Phase("resetUserDisks", ("resetUserDisks",), "wipe"))
    dbuses.append(_ALL)
    ends = Phase("shutdown", ("shutdown",)) if "shutdown" in options else _REBOOT
    return [*dbuses, ends]
