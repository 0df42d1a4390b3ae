"""Rules of the `machine` section."""

from __future__ import annotations

from stockman.talos.patches.addresses import url
from stockman.talos.roles import TalosRole
from stockman.talos.validation.disks_section import (
    check_disks,
    check_encryption,
    check_registries,
)
from stockman.talos.validation.kubelet_rules import check_kubelet
from stockman.talos.validation.kubespan_rules import check_kubespan
from stockman.talos.validation.node_marks import check_annotations, check_labels, check_taints
from stockman.talos.validation.part import Part
from stockman.talos.validation.report import Mode, Report
from stockman.talos.validation.runtime_spec import check_runtime_spec

WORKER = "worker"
CONTROL_PLANE = "controlplane"
_TYPES = {
    "init": "init",
    CONTROL_PLANE: CONTROL_PLANE,
    WORKER: WORKER,
    "join": WORKER,
    "": WORKER,
}
_DISK_TYPES = ("nvme", "sd", "hdd", "ssd")
_SORTS = ("v1", "v2")


def machine_type(machine: Part) -> str:
    """`init`, `controlplane` or `worker`. Empty: none that Talos knows."""
    return _TYPES.get(machine["type"].text, "")


def is_control_plane(kind: str) -> bool:
    return kind in ("init", CONTROL_PLANE)


def check_type(report: Report, machine: Part) -> None:
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


def check_install(report: Report, machine: Part) -> None:
    """Where Talos is installed; only machines that install themselves need it."""
    install = machine["install"]
    if report.mode is not Mode.METAL:
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
    wrong = _selector_fault(selector)
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


def _selector_fault(selector: Part) -> Part | None:
    """What keeps a selector from being understood; its name first, as Talos looks."""
    if selector["name"].text:
        return selector["name"]
    kind = selector["type"]
    return kind if kind.text and kind.text not in _DISK_TYPES else None


def check_authorities(report: Report, machine: Part) -> None:
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


def check_host_dns(report: Report, machine: Part) -> None:
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


def check_logging(report: Report, machine: Part) -> None:
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


def check_log_endpoint(report: Report, endpoint: Part) -> None:
    if not endpoint.present:
        report.missing(endpoint, "Talos would not know where to send logs")
        return
    parts = url(endpoint.text)
    if not parts.host or parts.scheme not in ("tcp", "udp"):
        wrong = "it names no host" if not parts.host else "its scheme is neither tcp nor udp"
        report.error(
            "machine.url",
            endpoint,
            f"{endpoint.name} is nowhere to send logs to",
            why=wrong,
            fix="write a URL such as tcp://logs.example.com:514",
        )


def check_extensions(report: Report, machine: Part) -> None:
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
        _deprecated(
            report, extensions, "put extensions into the image: `extensions:` under `talos:`"
        )


def _deprecated(report: Report, part: Part, fix: str) -> None:
    report.warn(
        "machine.deprecated",
        part,
        f"{part.name} is out of date",
        why="Talos still takes it, and will not for ever",
        fix=fix,
        counts=True,
    )


def check_old_ways(report: Report, machine: Part) -> None:
    if report.minor < 14:
        return
    for key, document in (
        ("files", "EtcFileConfig or CRICustomizationConfig"),
        ("baseRuntimeSpecOverrides", "CRIBaseRuntimeSpecConfig"),
    ):
        if not machine[key].is_empty:
            _deprecated(report, machine[key], f"write a document {document}")


def check_api_access(report: Report, machine: Part) -> None:
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


def check_roles(report: Report, roles: Part) -> None:
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


def check_sort(report: Report, machine: Part) -> None:
    sort = machine.down("features.nodeAddressSortAlgorithm")
    if sort.text and sort.text.lower() not in _SORTS:
        report.error(
            "machine.word",
            sort,
            f"{sort.name} is {sort.text!r}",
            why=f"ways to sort addresses are {' and '.join(_SORTS)}",
            fix="write one of these",
        )


def check_machine(report: Report, machine: Part) -> None:
    """Every rule of the section that needs no other part, in no order."""
    for rule in (
        check_type,
        check_install,
        check_authorities,
        check_host_dns,
        check_disks,
        check_encryption,
        check_kubespan,
        check_logging,
        check_extensions,
        check_old_ways,
        check_api_access,
        check_sort,
    ):
        rule(report, machine)
    if report.minor < 14:
        check_registries(report, machine)
    check_kubelet(report, machine["kubelet"])
    check_labels(report, machine["nodeLabels"])
    check_annotations(report, machine["nodeAnnotations"])
    check_taints(report, machine["nodeTaints"])
    check_runtime_spec(report, machine["baseRuntimeSpecOverrides"])
