"""Rules of ContainerConfig, and how containers depend on each other."""

from __future__ import annotations

import re

from stockman.talos.patches.scalars import parse_size
from stockman.talos.validation.formats import is_image_reference
from stockman.talos.validation.report import ConfigValue, ValidationReport

_NAME = re.compile(r"[a-z0-9-]{1,63}")
_CAPABILITY = re.compile(r"[A-Z_]+")
_MILLICORES = re.compile(r"0*[1-9][0-9]*m")
_OPTIONS = ("ro", "rw", "noexec", "nosuid", "nodev", "noatime", "rbind", "rshared")
_NETWORKS = ("addresses", "connectivity", "hostname", "etcfiles")
_MOUNTS = ("userVolume", "tmpfs", "hostPath")


def check_container(report: ValidationReport, document: ConfigValue) -> None:
    name, image = document["name"], document["image"]
    if not _NAME.fullmatch(name.text):
        why = "it has 1 to 63 small letters, digits and -"
        report.error(
            "machine.name",
            name,
            f"{name.text!r} is no name of a container",
            why=why,
            fix="rename it",
        )
    _check_image(report, image)
    for variable in document["environment"].items:
        if "=" not in variable.text:
            _report_container(
                report, variable, "a variable is written KEY=value", "write the = and the value"
            )
    _check_mounts(report, document["mounts"])
    _check_security(report, document["security"])
    mode = document.down("network.mode")
    if mode.text not in ("", "none", "host"):
        _report_container(report, mode, "networks are none and host", "write one of these")
    _check_limits(report, document.down("resources.limits"))
    _check_depends(report, document)
    for key in ("uid", "gid"):
        number = document["runAs"][key]
        if number.number < 0:
            _report_container(
                report, number, "it is below zero", "write the number of a user or group"
            )


def _report_container(report: ValidationReport, part: ConfigValue, why: str, fix: str) -> None:
    report.error("machine.container", part, f"{part.name} does not fit", why=why, fix=fix)


def _check_image(report: ValidationReport, image: ConfigValue) -> None:
    if not image.text:
        report.missing(image, "a container runs what an image holds")
    elif not is_image_reference(image.text):
        _report_container(report, image, f"{image.text!r} is no reference of an image", "write one")
    elif "@" not in image.text:
        report.warn(
            "machine.doubtful",
            image,
            f"{image.text} may be another image tomorrow",
            why="a tag can move, a digest cannot",
            fix="add the digest, @sha256: and 64 digits",
        )


def _check_mounts(report: ValidationReport, mounts: ConfigValue) -> None:
    taken: set[str] = set()
    for mount in mounts.items:
        kinds = [kind for kind in _MOUNTS if mount[kind].present]
        if len(kinds) != 1:
            _report_container(
                report, mount, f"it is exactly one of {', '.join(_MOUNTS)}", "keep one"
            )
            continue
        what = mount[kinds[0]]
        faults = _mount_errors(what, kinds[0])
        for part, why in faults:
            _report_container(report, part, why, "correct it")
        target = what["destination"]
        if not faults and target.text in taken:
            _report_container(
                report, target, f"{target.text} is mounted twice", "choose another place"
            )
        if not faults:
            taken.add(target.text)


def _mount_errors(mount: ConfigValue, kind: str) -> list[tuple[ConfigValue, str]]:
    faults = []
    if kind == "userVolume" and not mount["name"].text:
        faults.append((mount["name"], "the name of the volume is missing"))
    paths = ("source", "destination") if kind == "hostPath" else ("destination",)
    faults += [
        (mount[key], "a path starts with /") for key in paths if not mount[key].text.startswith("/")
    ]
    options = mount["options"]
    faults += [
        (option, f"options are {', '.join(_OPTIONS)}")
        for option in options.items
        if option.text not in _OPTIONS
    ]
    if {"ro", "rw"} <= set(options.texts):
        faults.append((options, "ro and rw exclude each other"))
    return faults


def _check_security(report: ValidationReport, security: ConfigValue) -> None:
    profile = security["profile"]
    if profile.text not in ("", "restricted", "privileged"):
        _report_container(
            report, profile, "profiles are restricted and privileged", "write one of these"
        )
    added, dropped = security.down("capabilities.add"), security.down("capabilities.drop")
    for capability in added.items:
        if capability.text == "ALL":
            _report_container(
                report, capability, "ALL cannot be added", "write `profile: privileged`"
            )
        elif capability.text in dropped.texts:
            _report_container(
                report, capability, "it is added and dropped", "remove one of the two"
            )
    for capability in added.items + dropped.items:
        text = capability.text
        if not _CAPABILITY.fullmatch(text) or text.startswith("CAP_"):
            _report_container(
                report, capability, "capabilities are written like NET_ADMIN", "write it so"
            )


def _check_limits(report: ValidationReport, limits: ConfigValue) -> None:
    memory, cpu = limits["memory"], limits["cpu"]
    if memory.text:
        try:
            parse_size(memory.text)
        except ValueError as error:
            _report_container(report, memory, str(error), "write a size such as 256MiB")
    if cpu.text and not _MILLICORES.fullmatch(cpu.text):
        _report_container(report, cpu, "it is told in thousandths of a core", "write it as 1500m")


def _check_depends(report: ValidationReport, document: ConfigValue) -> None:
    depends = document["dependsOn"]
    for path in depends["paths"].items:
        if not path.text.startswith("/"):
            _report_container(report, path, "a path starts with /", "write the whole path")
    for network in depends["networks"].items:
        if network.text not in _NETWORKS:
            _report_container(
                report, network, f"it is one of {', '.join(_NETWORKS)}", "write one of these"
            )
    for other in depends["containers"].items:
        if not other.text:
            _report_container(report, other, "the name of the container is missing", "write it")
        elif other.text == document["name"].text:
            _report_dependency(report, other, "a container cannot wait for itself")


def check_dependencies(report: ValidationReport, documents: list[ConfigValue]) -> None:
    """Containers wait for those that are there, and never in a circle."""
    waits = {one["name"].text: one.down("dependsOn.containers") for one in documents}
    for others in waits.values():
        for other in others.items:
            if other.text and other.text not in waits:
                _report_dependency(report, other, f"there is no container {other.text}")
    for name, others in waits.items():
        for other in others.items:
            if other.text != name and _reaches(waits, other.text, name):
                _report_dependency(report, other, f"{other.text} waits for {name} too")


def _reaches(waits: dict[str, ConfigValue], start: str, goal: str) -> bool:
    seen: set[str] = set()
    pending = [start]
    while pending:
        name = pending.pop()
        if name == goal:
            return True
        if name not in seen and name in waits:
            seen.add(name)
            pending += waits[name].texts
    return False


def _report_dependency(report: ValidationReport, part: ConfigValue, why: str) -> None:
    report.error(
        "machine.dependency",
        part,
        f"{part.label} waits for {part.text}, and would wait for ever",
        why=why,
        fix="remove the dependency, or add the container",
    )
