"""Every problem of patch files and of written machine configurations, made by broken input."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

from stockman.app.workspace import machine_patches as trouble
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem
from tests.talos.machine.test_assembly_forms import refused

_REFERENCE = Origin(Position("cluster.yaml", 14, 12), "talos.patches.all[0]")
_MISSING = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
_DENIED = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
_DIRECTORY = "templates/config/talos/patches"

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "config.exposed-output": lambda: trouble.configuration_in_git(Path("configs/work-1.yaml")),
    "config.unwritable": lambda: trouble.unwritable_configuration(Path("/configs"), _DENIED),
    "patch.file": lambda: trouble.unreadable_patch("patches/worker.yaml", _MISSING, _REFERENCE),
    "patch.no-node": lambda: trouble.no_such_node(
        f"{_DIRECTORY}/work-01/disk.yaml", "work-01", ["cp-1", "work-1"]
    ),
    "patch.template": lambda: trouble.template_in_patch(
        f"{_DIRECTORY}/global/time.yaml", Position(f"{_DIRECTORY}/global/time.yaml", 3, 15)
    ),
    "patch.two-forms": lambda: refused("1.14", "machine:\n  kubelet:\n    extraArgs: {a: b}\n"),
}
