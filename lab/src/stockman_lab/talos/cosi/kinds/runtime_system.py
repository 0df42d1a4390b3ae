"""What runs: version, kernel command line, boot, image and platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.content import Contents, Spec
from stockman_lab.talos.cosi.registry import kind
from stockman_lab.talos.disk import SD_BOOT
from stockman_lab.talos.extensions import extensions

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_FACTORY = "Image Factory"
_SIGNED_MODULES = "module.sig_enforce=1"


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


@kind("BootedEntries.talos.dev", "runtime.BootedEntryController")
def booted_entries(machine: Machine) -> Contents:
    if not _has_uki(machine):
        return {}
    return {"bootedentry": {"bootedEntry": f"Talos-{machine.version}.efi"}}


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
    told = {"platform": machine.state.platform, **machine.state.platform_config}
    return {"platformmetadata": told}


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


@kind("ImageFactorySchematics.runtime.talos.dev", "runtime.ImageFactorySchematicController")
def image_factory_schematics(machine: Machine) -> Contents:
    if not machine.state.schematic:
        return {}
    spec = {"schematicId": machine.state.schematic, "flavor": _FACTORY}
    return {"image-factory-schematic": spec}


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


@kind("MetaLoads.runtime.talos.dev", "")
def meta_loads(machine: Machine) -> Contents:
    del machine
    return {"meta-loaded": {"done": True}}


@kind("UniqueMachineTokens.runtime.talos.dev", "runtime.UniqueMachineTokenController")
def unique_machine_tokens(machine: Machine) -> Contents:
    disk = machine.disk
    value = disk.meta_value(16) if disk is not None else None
    token = value.decode("utf-8", "replace") if value is not None else ""
    return {"unique-machine-token": {"token": token}}
