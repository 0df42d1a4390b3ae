"""Rules of documents about the system itself."""

from __future__ import annotations

import posixpath

from stockman.model.pattern import pattern
from stockman.talos.patches.scalars import parse_nanoseconds, parse_url
from stockman.talos.validation.cel.checker import check_expression
from stockman.talos.validation.cel.environments import DISK, OOM_RANKING, OOM_TRIGGER
from stockman.talos.validation.formats import host_port_error, split_host_port
from stockman.talos.validation.link_documents import check_name, check_not_negative
from stockman.talos.validation.report import ConfigValue, ValidationReport
from stockman.talos.validation.storage_documents import check_least_time

_VARIABLE = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_LEAST_WATCHDOG = parse_nanoseconds("10s")
_MANAGED = (
    "resolv.conf",
    "hosts",
    "machine-id",
    "extensions.yaml",
    "localtime",
    "os-release",
    "xattr.conf",
)
_MANAGED_DIRECTORIES = (
    "apparmor.d",
    "apparmor",
    "ca-certificates",
    "cni",
    "cri",
    "iscsi",
    "kubernetes",
    "lvm",
    "nvme",
    "pki",
    "selinux",
    "ssl",
)


def check_environment(report: ValidationReport, document: ConfigValue) -> None:
    for key, entry in document["variables"].entries.items():
        if not _VARIABLE.fullmatch(key):
            report.error(
                "machine.environment",
                entry,
                f"{key!r} is not a valid variable name",
                why="names have letters, digits and _, and do not start with a digit",
                fix="rename it",
            )


def check_etc_file(report: ValidationReport, document: ConfigValue) -> None:
    name = document["name"]
    path = name.text
    why = ""
    if not path or path.startswith((".", "/")) or posixpath.normpath(path).startswith(".."):
        why = "it must be a path below /etc"
    elif path in _MANAGED or path.partition("/")[0] in _MANAGED_DIRECTORIES:
        why = "Talos manages it"
    if why:
        report.error(
            "machine.etc-file",
            name,
            f"{path!r} cannot be written by EtcFileConfig",
            why=why,
            fix="use another path, example.conf for example",
        )


def check_event_sink(report: ValidationReport, document: ConfigValue) -> None:
    endpoint = document["endpoint"]
    wrong = host_port_error(endpoint.text)
    if wrong:
        report.error(
            "machine.url",
            endpoint,
            f"{endpoint.name} is not a valid event destination",
            why=wrong,
            fix="use a host and a port, 10.42.0.5:3000 for example",
        )


def check_kmsg_log(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    target = document["url"]
    if not target.present:
        report.missing(target, "the kernel log is sent to it")
        return
    url = parse_url(target.text)
    why = ""
    if url.scheme not in ("tcp", "udp"):
        why = "its scheme is neither tcp nor udp"
    elif url.path not in ("", "/"):
        why = "its path is not empty"
    elif not split_host_port(url.host)[1]:
        why = "its port is missing"
    if why:
        _report_url(report, target, why, "tcp://logs.example.com:514")


def check_siderolink(report: ValidationReport, document: ConfigValue) -> None:
    target = document["apiUrl"]
    if not target.present:
        report.missing(target, "the machine reports to it")
        return
    url = parse_url(target.text)
    if url.scheme not in ("https", "grpc"):
        _report_url(report, target, "its scheme is neither https nor grpc", "https://example.com")
    elif url.path not in ("", "/"):
        _report_url(report, target, "its path is not empty", "https://example.com")


def _report_url(report: ValidationReport, field: ConfigValue, why: str, example: str) -> None:
    report.error(
        "machine.url",
        field,
        f"{field.name} is not a valid URL",
        why=why,
        fix=f"use a URL such as {example}",
    )


def check_oom(report: ValidationReport, document: ConfigValue) -> None:
    for key, environment in (
        ("triggerExpression", OOM_TRIGGER),
        ("cgroupRankingExpression", OOM_RANKING),
    ):
        if document[key].text:
            check_expression(report, document[key], environment)
    check_not_negative(report, document["sampleInterval"])


def check_parameters(report: ValidationReport, document: ConfigValue) -> None:
    for key, entry in document["params"].entries.items():
        if not key:
            report.error(
                "machine.environment",
                entry,
                f"a parameter of {document.label} has no name",
                why="kernel parameters are identified by name",
                fix="add the name, or remove the line",
            )


def check_unattended_install(report: ValidationReport, document: ConfigValue) -> None:
    if not document.down("installer.image").text:
        report.warn(
            "machine.incomplete",
            document.down("installer.image"),
            "UnattendedInstallConfig has no installer",
            why="only images of the image factory know their installer",
            fix="set installer.image: `schematic_id:` of the node defines it",
        )
    match = document.down("provisioning.diskSelector.match")
    if match.text:
        check_expression(report, match, DISK)
    else:
        report.missing(match, "Talos is installed on this disk", "set it: `disk:` of the node")


def check_watchdog(report: ValidationReport, document: ConfigValue) -> None:
    if not document["device"].text:
        report.missing(document["device"], "a watchdog is a device, /dev/watchdog0 for example")
    check_least_time(report, document["timeout"], _LEAST_WATCHDOG)


def check_extension_service(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    files, environment = document["configFiles"], document["environment"]
    if files.is_empty and environment.is_empty:
        report.error(
            "machine.extension-service",
            document,
            f"{document.label} configures nothing",
            why="neither configFiles nor environment is set",
            fix="add one of them, or remove the document",
        )
    for file in files.items:
        for key in ("content", "mountPath"):
            if not file[key].text:
                report.missing(file[key], "a file needs content and a mount path")
