"""What a running machine says of a configuration besides what anybody can say who reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from stockman_lab.talos.config.effective_record import Effective
from stockman_lab.talos.config.expressions import NotEvaluable, selects
from stockman_lab.talos.config.judging import Verdict, multi_error
from stockman_lab.talos.config.wording_form import EXTENSIONS, LATER

_TAG = re.compile(r":v?(?P<version>(?P<major>\d+)\.(?P<minor>\d+)\.\d+[^@]*)(?:@.*)?$")
_KUBERNETES = {"1.11": (29, 34), "1.12": (30, 35), "1.13": (31, 36), "1.14": (32, 37)}
"""First and last minor of Kubernetes that a minor of Talos runs."""
_IMAGES_CHECKED_UNTIL = "1.13"
_PROMOTABLE = ("ETCD", "CRI", "KUBELET", "LOG")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeFacts:
    """What a machine knows of itself."""

    version: str
    """Of Talos, `1.13.9`."""
    needs_install: bool = False
    """Whether it is metal, and nothing is installed on it yet."""
    disks: tuple[Mapping[str, object], ...] = ()
    """With the fields that expressions know: `dev_path`, `size`, `serial`."""
    boots_with_stub: bool = False
    """By sd-boot, where kernel arguments are part of the image."""
    partitions: frozenset[str] = field(default_factory=frozenset)
    """Volumes of the system that have partitions of their own."""

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])


def runtime_judged(config: Effective, machine: RuntimeFacts) -> Verdict:
    """The verdict of the machine that is to use a configuration."""
    oldest = [*_disks(config, machine), *_images(config, machine)]
    volumes = list(_volumes(config, machine))
    if machine.minor == "1.11":
        lines = [*oldest, *volumes]
    else:
        lines = [f"v1alpha1.Config: {multi_error(oldest)}"] if oldest else []
        lines += volumes
    return Verdict(
        errors=(*oldest, *volumes),
        invalid=multi_error(lines) if lines else "",
        warnings=tuple(_warnings(config, machine)),
    )


def _disks(config: Effective, machine: RuntimeFacts) -> Iterator[str]:
    install = config.install
    if install is None or install.is_unattended or not machine.needs_install:
        return
    expression = install.expression
    if expression and not any(_fits(expression, disk) for disk in machine.disks):
        yield f"no disks matched the expression: {expression}"


def _fits(expression: str, disk: Mapping[str, object]) -> bool:
    try:
        return selects(expression, {"disk": disk, "system_disk": False})
    except NotEvaluable:
        return False


def _images(config: Effective, machine: RuntimeFacts) -> Iterator[str]:
    if machine.minor > _IMAGES_CHECKED_UNTIL or config.is_partial:
        return
    images = {"kubelet": config.kubelet.image}
    if config.is_controlplane:
        kubernetes = config.kubernetes
        images |= {
            "kube-apiserver": kubernetes.api_server.image,
            "kube-controller-manager": kubernetes.controller_manager.image,
            "kube-scheduler": kubernetes.scheduler.image,
        }
    for name, image in images.items():
        said = unsupported(image, machine.version)
        if said:
            yield f"{name} image is not valid: {said}"


def unsupported(image: str, talos: str) -> str:
    """Why an image of Kubernetes does not go with a version of Talos. Empty: it does."""
    found = _TAG.search(image)
    if found is None:
        return f'failed to parse Kubernetes version from image reference "{image}"'
    first, last = _KUBERNETES[".".join(talos.split(".")[:2])]
    number = (int(found["major"]), int(found["minor"]))
    if (1, first) <= number <= (1, last):
        return ""
    how = "old" if number < (1, first) else "new"
    return f"version of Kubernetes {found['version']} is too {how} to be used with Talos {talos}"


def _volumes(config: Effective, machine: RuntimeFacts) -> Iterator[str]:
    for name in _PROMOTABLE:
        if name in machine.partitions and config.volume(name) is None:
            yield (
                f'the "{name}" system volume is backed by a dedicated partition and its '
                "VolumeConfig cannot be removed; migrating a system volume off a dedicated "
                "partition is not supported"
            )


def _warnings(config: Effective, machine: RuntimeFacts) -> Iterator[str]:
    install = config.install
    if install is None:
        return
    if install.extra_kernel_args and machine.boots_with_stub:
        yield "extra kernel arguments are not supported when booting using SDBoot"
    if install.extensions:
        extensions = EXTENSIONS
        for text, since in LATER[EXTENSIONS]:
            extensions = text if machine.minor >= since else extensions
        yield extensions
