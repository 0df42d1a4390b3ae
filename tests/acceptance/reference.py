"""One bootstrap that went well, made once for all tests of a process, and where it led."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stockman.engine.state import RunResult
from tests.acceptance.scene import CONTROLLER, WORKER, Life, Scene, Snapshot, Versions, fresh


@dataclass(frozen=True)
class Reference:
    """A run from nothing to a cluster that works."""

    life: Life
    end: Snapshot

    def scene(self, root: Path) -> Scene:
        """A cluster that works."""
        return self.end.scene(root)

    def grown(self, root: Path) -> Scene:
        """A cluster that works, and files that want one worker and one controller more."""
        scene = self.scene(root)
        scene.files.append("nodes.yaml", CONTROLLER)
        scene.files.append("nodes.yaml", WORKER)
        return scene

    def rework(self, root: Path) -> Scene:
        """A cluster that works, and files that give a controller other hardware."""
        scene = self.scene(root)
        scene.files.edit("nodes.yaml", "vmid: 1031, host: neo", "vmid: 1031, host: neo, cores: 6")
        return scene


def reference() -> Reference:
    """The bootstrap of three nodes that most tests begin with."""
    return bootstrap_reference(Versions())


@cache
def bootstrap_reference(versions: Versions) -> Reference:
    """The bootstrap of three nodes of some versions."""
    scene = Scene.made(fresh() / "reference", versions)
    life = scene.apply()
    assert life.outcome is not None
    assert life.outcome.result is RunResult.DONE, life.outcome.problems
    return Reference(life, scene.snapshot())


@cache
def scale_up_reference() -> Reference:
    """One worker and one controller more, in one run."""
    scene = reference().grown(fresh() / "scaled-up")
    life = scene.apply()
    assert life.outcome is not None
    assert life.outcome.result is RunResult.DONE, life.outcome.problems
    return Reference(life, scene.snapshot())


@cache
def restart_reference() -> Reference:
    """Other hardware for one controller, which is drained and restarted for it."""
    scene = reference().rework(fresh() / "restarted")
    life = scene.apply()
    assert life.outcome is not None
    assert life.outcome.result is RunResult.DONE, life.outcome.problems
    return Reference(life, scene.snapshot())
