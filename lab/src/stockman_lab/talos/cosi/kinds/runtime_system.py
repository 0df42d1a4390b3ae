"""What runs: version, kernel, boot, image, platform and clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.registry import Contents, Spec, kind
from stockman_lab.talos.disk import SD_BOOT
from stockman_lab.talos.extensions import can_load, extensions

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_FACTORY = "Image Factory"
_SIGNED_MODULES = "module.sig_enforce=1"
_MODULES = {
    "virtio_balloon": (28672, []),
    "virtio_pci": (28672, []),
    "virtio_pci_legacy_dev": (12288, ["virtio_pci"]),
    "virtio_pci_modern_dev": (16384, ["virtio_pci"]),
}


@kind("Versions.runtime.talos.dev", "runtime.VersionController")
def versions(machine: Machine) -> Contents:
    return {"version": {"name": "Talos", "version": machine.version}}


@kind("BootIDs.runtime.talos.dev", "runtime.BootIDController")
def boot_ids(machine: Machine) -> Contents:
    return {"boot-id": {"bootID": machine.state.boot_id}}


@kind("KernelCmdlines.runtime.talos.dev", "runtime.KernelCmdlineController")
def kernel_cmdlines(machine: Machine) -> Contents:
    return {"cmdline": {"cmdline": " ".join(machine.state.cmdline)}}


def _has_uki(machine: Machine) -> bool:
    disk = machine.disk
    return disk is not None and bool(machine.state.slot) and disk.bootloader == SD_BOOT


@kind("SecurityStates.talos.dev", "runtime.SecurityStateController")
def security_states(machine: Machine) -> Contents:
    return {
        "securitystate": {
            "secureBoot": machine.state.secure_boot,
            "selinuxState": "enabled, permissive",
            "bootedWithUKI": _has_uki(machine),
            "moduleSignatureEnforced": _SIGNED_MODULES in machine.state.cmdline,
        }
    }


@kind("PlatformMetadatas.talos.dev", "network.PlatformConfigApplyController")
def platform_metadatas(machine: Machine) -> Contents:
    metadata = {"platform": machine.state.platform, **machine.state.platform_config}
    return {"platformmetadata": metadata}


@kind("ExtensionStatuses.runtime.talos.dev", "runtime.ExtensionStatusController")
def extension_statuses(machine: Machine) -> Contents:
    layers = [_extension(machine, name) for name in extensions(machine)]
    if machine.state.schematic:
        layers.append(_schematic(machine))
    return {
        str(place): {"image": f"{place}.sqsh", "metadata": metadata}
        for place, metadata in enumerate(layers)
    }


def _extension(machine: Machine, name: str) -> Spec:
    from stockman_lab.factory.offer import extensions_of

    offered = {
        official_extension.name: official_extension
        for official_extension in extensions_of(machine.land.factory, machine.version)
    }
    found = offered.get(name)
    return {
        "name": name.rpartition("/")[2],
        "version": found.ref.rpartition(":")[2] if found is not None else machine.version,
        "author": found.author if found is not None else "Sidero Labs",
        "description": found.description if found is not None else "",
        "compatibility": {"talos": {"version": ">= v1.11.0"}},
    }


def _schematic(machine: Machine) -> Spec:
    return {
        "name": "schematic",
        "version": machine.state.schematic,
        "author": _FACTORY,
        "description": "Virtual extension which specifies the schematic of the image built with "
        "Image Factory.",
    }


@kind("MetaKeys.runtime.talos.dev", "")
def meta_keys(machine: Machine) -> Contents:
    disk = machine.disk
    if disk is None:
        return {}
    values = {key: disk.meta_value(int(key)) or b"" for key in disk.meta}
    return {
        f"0x{int(key):02x}": {"value": value.decode("utf-8", "replace")}
        for key, value in values.items()
    }


@kind("TimeStatuses.v1alpha1.talos.dev", "time.SyncController")
def time_statuses(machine: Machine) -> Contents:
    config, synced = machine.config, machine.state.is_time_synced
    disabled = config is not None and config.time_disabled
    epoch = 1 if synced and not disabled else 0
    return {"node": {"synced": synced, "epoch": epoch, "syncDisabled": disabled}}


@kind("LoadedKernelModules.runtime.talos.dev", "runtime.LoadedKernelModuleController")
def loaded_kernel_modules(machine: Machine) -> Contents:
    return {
        name: {
            "size": size,
            "referenceCount": len(dependencies),
            "dependencies": dependencies,
            "state": "Live",
            "address": "0x0000000000000000",
        }
        for name, (size, dependencies) in _modules(machine).items()
    }


def _modules(machine: Machine) -> dict[str, tuple[int, list[str]]]:
    config = machine.config
    kernel_modules = config.kernel_modules if config is not None else ()
    names = [
        kernel_module.name
        for kernel_module in kernel_modules
        if can_load(machine, kernel_module.name)
    ]
    return {**_MODULES, **{name: (16384, []) for name in names}}
