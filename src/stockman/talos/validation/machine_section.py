"""Rules of the `machine` section, including disks, registries and encryption."""

from __future__ import annotations

from stockman.talos.credentials.roles import TalosRole
from stockman.talos.patches.scalars import parse_url
from stockman.talos.validation.report import ConfigValue, RuntimeMode
from stockman.talos.validation.shared_rules import (
    check_annotations,
    check_kubelet,
    check_kubespan,
    check_labels,
    check_runtime_spec,
    check_taints,
)


def check_disks(machine: ConfigValue) -> None:
    for disk in machine["disks"].items:
        if not disk.present:
            _report_null(disk)
            continue
        partitions = disk["partitions"].items
        for partition in partitions[:-1]:
            if not partition.present or partition["size"].text not in ("", "0", "0 B"):
                continue
            partition.error(
                "machine.partition",
                f"{partition.name} has no size, but is not the last",
                why="a partition without a size uses the rest of the disk",
                fix="set a size, or move it to the end",
            )


def _report_null(field: ConfigValue) -> None:
    field.error(
        "machine.null",
        f"{field.name} is null",
        why="Talos fails on an empty value",
        fix="set a value, or remove the key",
    )


def check_registries(machine: ConfigValue) -> None:
    for section in ("config", "mirrors"):
        for entry in machine.down(f"registries.{section}").entries.values():
            if not entry.present:
                _report_null(entry)


def check_system_encryption(machine: ConfigValue) -> None:
    """Check the encryption of system partitions in the format before volumes."""
    for label in ("state", "ephemeral"):
        system = machine.down(f"systemDiskEncryption.{label}")
        if system.present:
            check_keys(system, system["keys"])


def check_keys(parent: ConfigValue, keys: ConfigValue) -> None:
    """Check the keys of an encrypted partition: at least one, unique slots, each of one kind."""
    if keys.is_empty:
        keys.error(
            "machine.encryption",
            f"{parent.name} has no key",
            why="an encrypted partition needs at least one key",
            fix="add a key, for example `nodeID: {}` in slot 0",
        )
    taken: set[int] = set()
    for key in keys.items:
        slot = key["slot"]
        if slot.number in taken:
            (slot if slot.present else key).error(
                "machine.encryption",
                f"{key.name} uses slot {slot.number} of another key",
                why="a slot holds one key",
                fix="number the slots from 0",
            )
        taken.add(slot.number)
        if not any(key[kind].present for kind in ("static", "nodeID", "kms", "tpm")):
            key.error(
                "machine.encryption",
                f"{key.name} has no kind",
                why="a key is one of static, nodeID, kms and tpm",
                fix="use one of the four, for example `nodeID: {}`",
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
_ADDRESS_SORT_ALGORITHMS = ("v1", "v2")


def machine_type(machine: ConfigValue) -> str:
    """Return `init`, `controlplane` or `worker`. Empty: an unknown type."""
    return _MACHINE_TYPES.get(machine["type"].text, "")


def is_control_plane(kind: str) -> bool:
    return kind in ("init", CONTROL_PLANE)


def check_type(machine: ConfigValue) -> None:
    kind, field = machine_type(machine), machine["type"]
    if not kind:
        field.error(
            "machine.type",
            f"{field.text} is not a valid machine type",
            why="machine types are controlplane and worker",
            fix="set `type: controlplane` or `type: worker`",
        )
    elif kind != field.text:
        field.warn(
            "machine.spelling",
            f"the machine type is written as {field.text!r}",
            why=f"Talos reads it as {kind}, and warns at every start",
            fix=f"set `type: {kind}`",
        )


def check_install(machine: ConfigValue) -> None:
    """Check where Talos is installed; only machines that install themselves need it."""
    install = machine["install"]
    if machine.report.mode is not RuntimeMode.METAL:
        return
    if not install.present:
        if machine.minor < 14:
            install.error(
                "machine.install",
                "machine.install is missing",
                why="a machine in metal mode needs it to install itself",
                fix="add machine.install with a disk: `disk:` of the node in nodes.yaml",
            )
        return
    selector = install["diskSelector"]
    wrong = _find_selector_error(selector)
    if wrong is not None:
        wrong.error(
            "machine.install",
            f"{wrong.name} selects no disk",
            why=f"disk types are {', '.join(_DISK_TYPES)}"
            if wrong.path.endswith(".type")
            else "Talos cannot select a disk by its name",
            fix="write another type" if wrong.path.endswith(".type") else "select by model or size",
        )
    if not install["disk"].text and (wrong is not None or not selector.present):
        install["disk"].error(
            "machine.install",
            "machine.install has no disk",
            why="neither disk nor a valid diskSelector is set",
            fix="set machine.install.disk: `disk:` of the node in nodes.yaml",
        )
    arguments, plain = install["extraKernelArgs"], install["grubUseUKICmdline"]
    if machine.minor >= 12 and not arguments.is_empty and plain.flag:
        arguments.error(
            "machine.install",
            "machine.install.extraKernelArgs and grubUseUKICmdline exclude each other",
            why="with the latter the kernel uses the arguments of the image",
            fix="put the arguments into the image: `kernel_args:` under `talos:`",
        )


def _find_selector_error(selector: ConfigValue) -> ConfigValue | None:
    """Return the invalid field of a selector; the name first, in Talos' order."""
    if selector["name"].text:
        return selector["name"]
    kind = selector["type"]
    return kind if kind.text and kind.text not in _DISK_TYPES else None


def check_authorities(machine: ConfigValue) -> None:
    """Check which clients the machine trusts, and the CA key of a control plane."""
    authority, accepted = machine["ca"], machine["acceptedCAs"]
    kind = machine_type(machine)
    missing = None
    if not authority.present and (accepted.is_empty or is_control_plane(kind)):
        missing, why = authority, "the machine could not authenticate clients"
    elif is_control_plane(kind) and not authority["key"].text:
        missing, why = authority["key"], "a control plane needs it to issue certificates"
    elif kind == WORKER and not authority["crt"].text and accepted.is_empty and authority.present:
        missing, why = authority["crt"], "the machine could not authenticate clients"
    if missing is not None:
        missing.error(
            "machine.ca",
            f"{missing.name} is missing",
            why=why,
            fix="use the authority `certs.os` of the secrets bundle",
        )
    if kind == WORKER and authority["key"].text:
        authority["key"].error(
            "machine.worker-secret",
            "a worker has the private key of the Talos CA",
            why="an attacker on the worker could control every machine",
            fix="leave machine.ca.key of workers empty",
        )


def check_host_dns(machine: ConfigValue) -> None:
    dns = machine.down("features.hostDNS")
    forward = dns["forwardKubeDNSToHost"]
    if machine.minor >= 13 and forward.flag and not dns["enabled"].flag:
        forward.error(
            "machine.dns",
            "machine.features.hostDNS forwards to a disabled resolver",
            why="forwardKubeDNSToHost is true, but enabled is not",
            fix="set `enabled: true` as well",
        )


def check_logging(machine: ConfigValue) -> None:
    for target in machine.down("logging.destinations").items:
        check_log_endpoint(target["endpoint"])
        style = target["format"]
        if style.text != "json_lines":
            style.error(
                "machine.word",
                f"{style.name} is {style.text!r}",
                why="Talos supports only json_lines",
                fix="set `format: json_lines`",
            )


def check_log_endpoint(endpoint: ConfigValue) -> None:
    if not endpoint.present:
        endpoint.missing("Talos sends logs to it")
        return
    url = parse_url(endpoint.text)
    if not url.host or url.scheme not in ("tcp", "udp"):
        wrong = "it has no host" if not url.host else "its scheme is neither tcp nor udp"
        endpoint.error(
            "machine.url",
            f"{endpoint.name} is not a valid log destination",
            why=wrong,
            fix="use a URL such as tcp://logs.example.com:514",
        )


def check_extensions(machine: ConfigValue) -> None:
    extensions = machine.down("install.extensions")
    seen: set[str] = set()
    for extension in extensions.items:
        image = extension["image"]
        if image.text in seen:
            image.error(
                "machine.duplicate",
                f"the extension {image.text} is listed twice",
                why="Talos would install it twice",
                fix="remove one of the two",
            )
        seen.add(image.text)
    if seen:
        _warn_deprecated(extensions, "put extensions into the image: `extensions:` under `talos:`")


def _warn_deprecated(field: ConfigValue, fix: str) -> None:
    field.warn(
        "machine.deprecated",
        f"{field.name} is deprecated",
        why="Talos still accepts it, but a later version will not",
        fix=fix,
    )


def check_deprecated_fields(machine: ConfigValue) -> None:
    if machine.minor < 14:
        return
    for key, document in (
        ("files", "EtcFileConfig or CRICustomizationConfig"),
        ("baseRuntimeSpecOverrides", "CRIBaseRuntimeSpecConfig"),
    ):
        if not machine[key].is_empty:
            _warn_deprecated(machine[key], f"use a document {document}")


def check_api_access(machine: ConfigValue) -> None:
    access = machine.down("features.kubernetesTalosAPIAccess")
    if not access["enabled"].flag:
        return
    if not is_control_plane(machine_type(machine)):
        access.error(
            "machine.control-plane-only",
            f"{access.name} is for control planes only",
            why="this machine is a worker, whose API cannot grant access",
            fix="remove it from workers",
        )
    roles = machine.down("features.rbac")
    if machine.minor < 12 and not roles.flag:
        roles.error(
            "machine.role",
            "pods may use the Talos API, but roles are disabled",
            why="without roles every pod would have full access",
            fix="set `rbac: true` in machine.features",
        )
    check_roles(access["allowedRoles"])


def check_roles(roles: ConfigValue) -> None:
    known = known_roles(roles.minor)
    for role in roles.items:
        if role.text not in known:
            role.error(
                "machine.role",
                f"{role.text} is not a role of the Talos API",
                why=f"the roles are {', '.join(known)}",
                fix="use one of these",
            )


def known_roles(minor: int) -> list[str]:
    new = () if minor >= 13 else (TalosRole.IMAGE_VERIFIER, TalosRole.META_WRITER)
    return [role.value for role in TalosRole if role not in new]


def check_address_sort(machine: ConfigValue) -> None:
    sort = machine.down("features.nodeAddressSortAlgorithm")
    if sort.text.lower() not in _ADDRESS_SORT_ALGORITHMS:
        sort.check_word((), why=f"the algorithms are {' and '.join(_ADDRESS_SORT_ALGORITHMS)}")


def check_machine(machine: ConfigValue) -> None:
    """Check every rule of the section that needs no other section."""
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
        check_address_sort,
    ):
        rule(machine)
    if machine.minor < 14:
        check_registries(machine)
    check_kubelet(machine["kubelet"])
    check_labels(machine["nodeLabels"])
    check_annotations(machine["nodeAnnotations"])
    check_taints(machine["nodeTaints"])
    check_runtime_spec(machine["baseRuntimeSpecOverrides"])
