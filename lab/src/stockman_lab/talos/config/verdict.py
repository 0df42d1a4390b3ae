"""Whether Talos accepts a configuration, and why not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from stockman.model.problem import Problems
from stockman.talos.validation.report import RuntimeMode
from stockman.talos.validation.validate import load_configuration, validate
from stockman_lab.talos.config.effective_record import Effective
from stockman_lab.talos.config.expressions import NotEvaluable, selects

_FILE = "config"
_CACHED = 256
_TAG = re.compile(r":v?(?P<version>(?P<major>\d+)\.(?P<minor>\d+)\.\d+[^@]*)(?:@.*)?$")
_KUBERNETES = {"1.11": (29, 34), "1.12": (30, 35), "1.13": (31, 36), "1.14": (32, 37)}
"""First and last minor of Kubernetes that a minor of Talos runs."""
_IMAGES_CHECKED_UNTIL = "1.13"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What Talos says of a configuration."""

    unreadable: str = ""
    """Why it cannot be loaded. Empty: it can."""
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        return not self.unreadable and not self.errors

    @property
    def invalid(self) -> str:
        """All errors in one text, as Talos joins them. Empty: none."""
        return joined_errors(self.errors) if self.errors else ""

    @property
    def message(self) -> str:
        """What `ApplyConfiguration` answers."""
        return self.unreadable or self.invalid


@lru_cache(maxsize=_CACHED)
def static_verdict(
    text: bytes, minor: str, mode: str = "cloud", *, strict: bool = False
) -> Verdict:
    """The verdict without a machine, by the product's own validation of a minor and a mode."""
    try:
        source = text.decode()
    except UnicodeDecodeError:
        return Verdict(unreadable="decode error: yaml: invalid leading UTF-8 octet")
    problems = Problems()
    documents = load_configuration(_FILE, source, minor, problems)
    if documents is None:
        return Verdict(unreadable=f"error decoding document: {next(iter(problems)).what}")
    if not documents:
        return Verdict(unreadable="config not found")
    problems.extend(validate(documents, minor, RuntimeMode(mode), strict=strict))
    return Verdict(
        errors=tuple(problem.what for problem in problems.errors),
        warnings=tuple(warning.what for warning in problems.warnings),
    )


def joined_errors(lines: Sequence[str]) -> str:
    """Several errors in one text, as Talos writes them."""
    head = "1 error occurred:" if len(lines) == 1 else f"{len(lines)} errors occurred:"
    return "\n\t".join([head, *(f"* {line}" for line in lines)]) + "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """What a machine knows of itself."""

    version: str
    """Of Talos, `1.13.9`."""
    needs_install: bool = False
    """Whether it is a metal machine without an installation."""
    disks: tuple[Mapping[str, object], ...] = ()
    """With the fields that expressions know: `dev_path`, `size`, `serial`."""

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])


def machine_verdict(config: Effective, machine: MachineFacts) -> Verdict:
    """The verdict of the machine that is to use a configuration."""
    return Verdict(errors=(*_disk_errors(config, machine), *_image_errors(config, machine)))


def _disk_errors(config: Effective, machine: MachineFacts) -> Iterator[str]:
    install = config.install
    if install is None or install.is_unattended or not machine.needs_install:
        return
    expression = install.expression
    if expression and not any(_matches(expression, disk) for disk in machine.disks):
        yield f"no disks matched the expression: {expression}"


def _matches(expression: str, disk: Mapping[str, object]) -> bool:
    try:
        return selects(expression, {"disk": disk, "system_disk": False})
    except NotEvaluable:
        return False


def _image_errors(config: Effective, machine: MachineFacts) -> Iterator[str]:
    if machine.minor > _IMAGES_CHECKED_UNTIL or config.is_partial:
        return
    images = {"kubelet": config.kubelet.image}
    if config.is_controlplane:
        images["kube-apiserver"] = config.kubernetes.api_server.image
    for name, image in images.items():
        if reason := _version_conflict(image, machine.version):
            yield f"{name} image is not valid: {reason}"


def _version_conflict(image: str, talos: str) -> str:
    """Why an image of Kubernetes does not go with a version of Talos. Empty: it does."""
    match = _TAG.search(image)
    if match is None:
        return f'failed to parse Kubernetes version from image reference "{image}"'
    first, last = _KUBERNETES[".".join(talos.split(".")[:2])]
    number = (int(match["major"]), int(match["minor"]))
    if (1, first) <= number <= (1, last):
        return ""
    how = "old" if number < (1, first) else "new"
    return f"version of Kubernetes {match['version']} is too {how} to be used with Talos {talos}"
