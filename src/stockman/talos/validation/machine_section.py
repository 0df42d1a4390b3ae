"""Disks, registries and encryption in the `machine` section."""

from __future__ import annotations

from stockman.talos.credentials.roles import TalosRole
from stockman.talos.patches.scalars import parse_url
from stockman.talos.validation.report import ConfigValue, RuntimeMode, ValidationReport
from stockman.talos.validation.runtime_spec import check_runtime_spec
from stockman.talos.validation.shared_rules import (
    check_annotations,
    check_kubelet,
    check_kubespan,
    check_labels,
    check_taints,
)


def check_disks(report: ValidationReport, machine: ConfigValue) -> None:
    for disk in machine["disks"].items:
        if not disk.present:
            _report_null(report, disk)
            continue
        partitions = disk["partitions"].items
        for partition in partitions[:-1]:
            if not partition.present or partition["size"].text not in ("", "0", "0 B"):
                continue
            report.error(
                "machine.partition",
                partition,
                f"{partition.name} has no size, and is not the last",
                why="a partition without a size takes the rest of the disk",
                fix="give it a size, or write it last",
            )


def _report_null(report: ValidationReport, part: ConfigValue) -> None:
    report.error(
        "machine.null",
        part,
        f"{part.name} is null",
        why="Talos looks into it, and finds nothing",
        fix="write what belongs there, or remove it",
    )


def check_registries(report: ValidationReport, machine: ConfigValue) -> None:
    for section in ("config", "mirrors"):
        for entry in machine.down(f"registries.{section}").entries.values():
            if not entry.present:
                _report_null(report, entry)


def check_system_encryption(report: ValidationReport, machine: ConfigValue) -> None:
    """Encryption of the system's own partitions, as it was written before volumes."""
    for label in ("state", "ephemeral"):
        system = machine.down(f"systemDiskEncryption.{label}")
        if system.present:
            check_keys(report, system, system["keys"])


def check_keys(report: ValidationReport, parent: ConfigValue, keys: ConfigValue) -> None:
    """Keys of an encrypted partition: one at least, each in a slot of its own, each of a kind."""
    if keys.is_empty:
        report.error(
            "machine.encryption",
            keys,
            f"{parent.name} has no key",
            why="a partition is encrypted with one key or more",
            fix="write a key, for example `nodeID: {}` in slot 0",
        )
    taken: set[int] = set()
    for key in keys.items:
        slot = key["slot"]
        if slot.number in taken:
            report.error(
                "machine.encryption",
                slot if slot.present else key,
                f"{key.name} is in slot {slot.number} like another",
                why="a slot holds one key",
                fix="number the slots from 0",
            )
        taken.add(slot.number)
        if not any(key[kind].present for kind in ("static", "nodeID", "kms", "tpm")):
            report.error(
                "machine.encryption",
                key,
                f"{key.name} is of no kind",
                why="a key is static, from the nodeID, from a kms or from the tpm",
                fix="write one of the four, for example `nodeID: {}`",
            )


WORKER = "worker"
CONTROL_PLANE = "controlplane"
_MACHINE_TYPES = {
    "init": "init",
    CONTROL_PLANE: CONTROL_PLANE,
    WORKER: WORKER,
    "join": WORKER,
    "": WORKER,
}
_DISK_TYPES = ("nvme", "sd", "hdd", "ssd")
_HOSTNAME_VERSIONS = ("v1", "v2")


def machine_type(machine: ConfigValue) -> str:
    """`init`, `controlplane` or `worker`. Empty: none that Talos knows."""
    return _MACHINE_TYPES.get(machine["type"].text, "")


def is_control_plane(kind: str) -> bool:
    return kind in ("init", CONTROL_PLANE)


def check_type(report: ValidationReport, machine: ConfigValue) -> None:
    kind, part = machine_type(machine), machine["type"]
    if not kind:
        report.error(
            "machine.type",
            part,
            f"{part.text} is no type of machine",
            why="machines are of type controlplane or worker",
            fix="write `type: controlplane` or `type: worker`",
        )
    elif kind != part.text:
        report.warn(
            "machine.spelling",
            part,
            f"the type of the machine is spelled {part.text!r}",
            why=f"Talos reads it as {kind}, and says so at every start",
            fix=f"write `type: {kind}`",
            counts=True,
        )


def check_install(report: ValidationReport, machine: ConfigValue) -> None:
    """Where Talos is installed; only machines that install themselves need it."""
    install = machine["install"]
    if report.mode is not RuntimeMode.METAL:
        return
    if not install.present:
        if report.minor < 14:
            report.error(
                "machine.install",
                install,
                "machine.install is missing",
                why="a machine in metal mode installs itself, and does not know where",
                fix="write machine.install with a disk: `disk:` of the node in nodes.yaml",
            )
        return
    selector = install["diskSelector"]
    wrong = _find_selector_error(selector)
    if wrong is not None:
        report.error(
            "machine.install",
            wrong,
            f"{wrong.name} selects no disk",
            why=f"types of disks are {', '.join(_DISK_TYPES)}"
            if wrong.path.endswith(".type")
            else "Talos cannot select a disk by its name",
            fix="write another type" if wrong.path.endswith(".type") else "select by model or size",
        )
    if not install["disk"].text and (wrong is not None or not selector.present):
        report.error(
            "machine.install",
            install["disk"],
            "machine.install names no disk",
            why="neither disk nor a diskSelector that Talos understands is there",
            fix="write machine.install.disk: `disk:` of the node in nodes.yaml",
        )
    arguments, plain = install["extraKernelArgs"], install["grubUseUKICmdline"]
    if report.minor >= 12 and not arguments.is_empty and plain.flag:
        report.error(
            "machine.install",
            arguments,
            "machine.install.extraKernelArgs and grubUseUKICmdline exclude each other",
            why="with the latter the kernel takes the arguments that are part of the image",
            fix="put the arguments into the image: `kernel_args:` under `talos:`",
        )


def _find_selector_error(selector: ConfigValue) -> ConfigValue | None:
    """What keeps a selector from being understood; its name first, as Talos looks."""
    if selector["name"].text:
        return selector["name"]
    kind = selector["type"]
    return kind if kind.text and kind.text not in _DISK_TYPES else None


def check_authorities(report: ValidationReport, machine: ConfigValue) -> None:
    """Who may speak to the machine, and whom a control plane issues certificates to."""
    authority, accepted = machine["ca"], machine["acceptedCAs"]
    kind = machine_type(machine)
    lacking = None
    if not authority.present and (accepted.is_empty or is_control_plane(kind)):
        lacking, why = authority, "no client could prove to the machine who it is"
    elif is_control_plane(kind) and not authority["key"].text:
        lacking, why = authority["key"], "a control plane issues certificates, and cannot without"
    elif kind == WORKER and not authority["crt"].text and accepted.is_empty and authority.present:
        lacking, why = authority["crt"], "no client could prove to the machine who it is"
    if lacking is not None:
        report.error(
            "machine.ca",
            lacking,
            f"{lacking.name} is missing",
            why=why,
            fix="take the authority `certs.os` of the secrets bundle",
        )
    if kind == WORKER and authority["key"].text:
        report.error(
            "machine.worker-secret",
            authority["key"],
            "a worker holds the key of the Talos API",
            why="whoever breaks into the worker could command every machine",
            fix="leave machine.ca.key of workers empty",
        )


def check_host_dns(report: ValidationReport, machine: ConfigValue) -> None:
    dns = machine.down("features.hostDNS")
    forward = dns["forwardKubeDNSToHost"]
    if report.minor >= 13 and forward.flag and not dns["enabled"].flag:
        report.error(
            "machine.dns",
            forward,
            "machine.features.hostDNS forwards to a resolver that is off",
            why="forwardKubeDNSToHost is true and enabled is not",
            fix="write `enabled: true` beside it",
        )


def check_logging(report: ValidationReport, machine: ConfigValue) -> None:
    for target in machine.down("logging.destinations").items:
        check_log_endpoint(report, target["endpoint"])
        style = target["format"]
        if style.text != "json_lines":
            report.error(
                "machine.word",
                style,
                f"{style.name} is {style.text!r}",
                why="Talos writes logs as json_lines and in no other form",
                fix="write `format: json_lines`",
            )


def check_log_endpoint(report: ValidationReport, endpoint: ConfigValue) -> None:
    if not endpoint.present:
        report.missing(endpoint, "Talos would not know where to send logs")
        return
    parts = parse_url(endpoint.text)
    if not parts.host or parts.scheme not in ("tcp", "udp"):
        wrong = "it names no host" if not parts.host else "its scheme is neither tcp nor udp"
        report.error(
            "machine.url",
            endpoint,
            f"{endpoint.name} is nowhere to send logs to",
            why=wrong,
            fix="write a URL such as tcp://logs.example.com:514",
        )


def check_extensions(report: ValidationReport, machine: ConfigValue) -> None:
    extensions = machine.down("install.extensions")
    seen: set[str] = set()
    for extension in extensions.items:
        image = extension["image"]
        if image.text in seen:
            report.error(
                "machine.duplicate",
                image,
                f"the extension {image.text} stands there twice",
                why="Talos would install it twice",
                fix="remove one of the two",
            )
        seen.add(image.text)
    if seen:
        _warn_deprecated(
            report, extensions, "put extensions into the image: `extensions:` under `talos:`"
        )


def _warn_deprecated(report: ValidationReport, part: ConfigValue, fix: str) -> None:
    report.warn(
        "machine.deprecated",
        part,
        f"{part.name} is out of date",
        why="Talos still takes it, and will not for ever",
        fix=fix,
        counts=True,
    )


def check_deprecated_fields(report: ValidationReport, machine: ConfigValue) -> None:
    if report.minor < 14:
        return
    for key, document in (
        ("files", "EtcFileConfig or CRICustomizationConfig"),
        ("baseRuntimeSpecOverrides", "CRIBaseRuntimeSpecConfig"),
    ):
        if not machine[key].is_empty:
            _warn_deprecated(report, machine[key], f"write a document {document}")


def check_api_access(report: ValidationReport, machine: ConfigValue) -> None:
    access = machine.down("features.kubernetesTalosAPIAccess")
    if not access["enabled"].flag:
        return
    if not is_control_plane(machine_type(machine)):
        report.error(
            "machine.control-plane-only",
            access,
            f"{access.name} is for control planes only",
            why="this machine is a worker, and its API grants no other machine anything",
            fix="remove it from workers",
        )
    roles = machine.down("features.rbac")
    if report.minor < 12 and not roles.flag:
        report.error(
            "machine.role",
            roles,
            "pods may use the Talos API, and roles are off",
            why="without roles every pod could do everything",
            fix="write `rbac: true` in machine.features",
        )
    check_roles(report, access["allowedRoles"])


def check_roles(report: ValidationReport, roles: ConfigValue) -> None:
    known = known_roles(report.minor)
    for role in roles.items:
        if role.text not in known:
            report.error(
                "machine.role",
                role,
                f"{role.text} is no role of the Talos API",
                why=f"roles are {', '.join(known)}",
                fix="write one of these",
            )


def known_roles(minor: int) -> list[str]:
    new = () if minor >= 13 else (TalosRole.IMAGE_VERIFIER, TalosRole.META_WRITER)
    return [role.value for role in TalosRole if role not in new]


def check_udev_sort(report: ValidationReport, machine: ConfigValue) -> None:
    sort = machine.down("features.nodeAddressSortAlgorithm")
    if sort.text and sort.text.lower() not in _HOSTNAME_VERSIONS:
        report.error(
            "machine.word",
            sort,
            f"{sort.name} is {sort.text!r}",
            why=f"ways to sort addresses are {' and '.join(_HOSTNAME_VERSIONS)}",
            fix="write one of these",
        )


def check_machine(report: ValidationReport, machine: ConfigValue) -> None:
    """Every rule of the section that needs no other part, in no order."""
    for rule in (
        check_type,
        check_install,
        check_authorities,
        check_host_dns,
        check_disks,
        check_system_encryption,
        check_kubespan,
        check_logging,
        check_extensions,
        check_deprecated_fields,
        check_api_access,
        check_udev_sort,
    ):
        rule(report, machine)
    if report.minor < 14:
        check_registries(report, machine)
    check_kubelet(report, machine["kubelet"])
    check_labels(report, machine["nodeLabels"])
    check_annotations(report, machine["nodeAnnotations"])
    check_taints(report, machine["nodeTaints"])
    check_runtime_spec(report, machine["baseRuntimeSpecOverrides"])
