"""What Talos says of how it was built, by version."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


@dataclass(frozen=True, slots=True)
class Build:
    """One release."""

    sha: str
    """Eight digits of its commit."""
    go: str
    kernel: str
    containerd: str = "2.1.6"


_BUILDS = {
    "v1.11.5": Build("bc34de6e", "go1.24.9", "6.12.57-talos", "2.1.4"),
    "v1.11.6": Build("6dd14300", "go1.24.11", "6.12.62-talos", "2.1.5"),
    "v1.12.1": Build("7ea2ef7c", "go1.25.5", "6.18.2-talos"),
    "v1.12.11": Build("2e80771b", "go1.25.12", "6.18.42-talos"),
    "v1.13.9": Build("3ebd10a7", "go1.26.6", "6.18.44-talos", "2.2.3"),
}
_OF_MINORS = {
    "1.11": Build("", "go1.24.9", "6.12.57-talos", "2.1.4"),
    "1.12": Build("", "go1.25.5", "6.18.2-talos"),
    "1.13": Build("", "go1.26.6", "6.18.44-talos", "2.2.3"),
    "1.14": Build("", "go1.26.6", "6.18.44-talos", "2.3.0"),
}
"""For releases that are not listed: those of another one of the same minor, with a made-up sha."""


def build_of(machine: Machine) -> Build:
    """The build that a machine runs."""
    build = _BUILDS.get(machine.version)
    if build is not None:
        return build
    like = _OF_MINORS.get(machine.minor, _OF_MINORS["1.14"])
    sha = hashlib.sha256(machine.version.encode()).hexdigest()[:8]
    return Build(sha, like.go, like.kernel, like.containerd)
