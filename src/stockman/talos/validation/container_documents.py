"""Rules of ContainerConfig, and how containers depend on each other."""

from __future__ import annotations

from stockman.model.pattern import pattern
from stockman.talos.patches.scalars import parse_size
from stockman.talos.validation.formats import is_image_reference
from stockman.talos.validation.report import ConfigValue, ValidationReport

_NAME = pattern(r"[a-z0-9-]{1,63}")
_CAPABILITY = pattern(r"[A-Z_]+")
_MILLICORES = pattern(r"0*[1-9][0-9]*m")
_OPTIONS = ("ro", "rw", "noexec", "nosuid", "nodev", "noatime", "rbind", "rshared")
_NETWORKS = ("addresses", "connectivity", "hostname", "etcfiles")
_MOUNTS = ("userVolume", "tmpfs", "hostPath")


def check_container(report: ValidationReport, document: ConfigValue) -> None:
    name, image = document["name"], document["image"]
    if not _NAME.fullmatch(name.text):
        why = "it must have 1 to 63 lower-case letters, digits and -"
        report.error(
            "machine.name",
            name,
            f"{name.text!r} is not a valid container name",
            why=why,
            fix="rename it",
        )
    _check_image(report, image)
    for variable in document["environment"].items:
        if "=" not in variable.text:
            _report_container(
                report, variable, "a variable is written as KEY=value", "add the = and the value"
            )
    _check_mounts(report, document["mounts"])
    _check_security(report, document["security"])
    mode = document.down("network.mode")
    if mode.text not in ("", "none", "host"):
        _report_container(report, mode, "networks are none and host", "use one of these")
    _check_limits(report, document.down("resources.limits"))
    _check_depends(report, document)
    for key in ("uid", "gid"):
        number = document["runAs"][key]
        if number.number < 0:
            _report_container(report, number, "it is negative", "use the number of a user or group")


def _report_container(report: ValidationReport, field: ConfigValue, why: str, fix: str) -> None:
    report.error("machine.container", field, f"{field.name} is invalid", why=why, fix=fix)


def _check_image(report: ValidationReport, image: ConfigValue) -> None:
    if not image.text:
        report.missing(image, "a container runs an image")
    elif not is_image_reference(image.text):
        _report_container(
            report, image, f"{image.text!r} is not a valid image reference", "correct it"
        )
    elif "@" not in image.text:
        report.warn(
            "machine.doubtful",
            image,
            f"{image.text} may change",
            why="a tag can move, a digest cannot",
            fix="add the digest, @sha256: and 64 digits",
        )


def _check_mounts(report: ValidationReport, mounts: ConfigValue) -> None:
    taken: set[str] = set()
    for mount in mounts.items:
        kinds = [kind for kind in _MOUNTS if mount[kind].present]
        if len(kinds) != 1:
            _report_container(
                report, mount, f"exactly one of {', '.join(_MOUNTS)} is required", "keep one"
            )
            continue
        volume = mount[kinds[0]]
        problems = _mount_errors(volume, kinds[0])
        for field, why in problems:
            _report_container(report, field, why, "correct it")
        target = volume["destination"]
        if not problems and target.text in taken:
            _report_container(
                report, target, f"{target.text} is mounted twice", "choose another path"
            )
        if not problems:
            taken.add(target.text)


def _mount_errors(mount: ConfigValue, kind: str) -> list[tuple[ConfigValue, str]]:
    problems = []
    if kind == "userVolume" and not mount["name"].text:
        problems.append((mount["name"], "the name of the volume is missing"))
    paths = ("source", "destination") if kind == "hostPath" else ("destination",)
    problems += [
        (mount[key], "a path starts with /") for key in paths if not mount[key].text.startswith("/")
    ]
    options = mount["options"]
    problems += [
        (option, f"options are {', '.join(_OPTIONS)}")
        for option in options.items
        if option.text not in _OPTIONS
    ]
    if {"ro", "rw"} <= set(options.texts):
        problems.append((options, "ro and rw exclude each other"))
    return problems


def _check_security(report: ValidationReport, security: ConfigValue) -> None:
    profile = security["profile"]
    if profile.text not in ("", "restricted", "privileged"):
        _report_container(
            report, profile, "profiles are restricted and privileged", "use one of these"
        )
    added, dropped = security.down("capabilities.add"), security.down("capabilities.drop")
    for capability in added.items:
        if capability.text == "ALL":
            _report_container(
                report, capability, "ALL cannot be added", "use `profile: privileged`"
            )
        elif capability.text in dropped.texts:
            _report_container(
                report, capability, "it is added and dropped", "remove one of the two"
            )
    for capability in added.items + dropped.items:
        text = capability.text
        if not _CAPABILITY.fullmatch(text) or text.startswith("CAP_"):
            _report_container(
                report, capability, "capabilities are written like NET_ADMIN", "correct it"
            )


def _check_limits(report: ValidationReport, limits: ConfigValue) -> None:
    memory, cpu = limits["memory"], limits["cpu"]
    if memory.text:
        try:
            parse_size(memory.text)
        except ValueError as error:
            _report_container(report, memory, str(error), "use a size such as 256MiB")
    if cpu.text and not _MILLICORES.fullmatch(cpu.text):
        _report_container(report, cpu, "it is given in thousandths of a core", "write it as 1500m")


def _check_depends(report: ValidationReport, document: ConfigValue) -> None:
    depends = document["dependsOn"]
    for path in depends["paths"].items:
        if not path.text.startswith("/"):
            _report_container(report, path, "a path starts with /", "use an absolute path")
    for network in depends["networks"].items:
        if network.text not in _NETWORKS:
            _report_container(
                report, network, f"it is one of {', '.join(_NETWORKS)}", "use one of these"
            )
    for container in depends["containers"].items:
        if not container.text:
            _report_container(report, container, "the name of the container is missing", "add it")
        elif container.text == document["name"].text:
            _report_dependency(report, container, "a container cannot wait for itself")


def check_dependencies(report: ValidationReport, documents: list[ConfigValue]) -> None:
    """Check that containers depend only on existing containers, without cycles."""
    waits = {document["name"].text: document.down("dependsOn.containers") for document in documents}
    for containers in waits.values():
        for container in containers.items:
            if container.text and container.text not in waits:
                _report_dependency(report, container, f"container {container.text} does not exist")
    for name, containers in waits.items():
        for container in containers.items:
            if container.text != name and _reaches(waits, container.text, name):
                _report_dependency(report, container, f"{container.text} waits for {name} too")


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


def _report_dependency(report: ValidationReport, field: ConfigValue, why: str) -> None:
    report.error(
        "machine.dependency",
        field,
        f"{field.label} waits for {field.text} and would never start",
        why=why,
        fix="remove the dependency, or add the container",
    )
