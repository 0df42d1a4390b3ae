"""Clusters that the real command line makes side by side, each in a lab of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.running import Ran
from tests.real.apply.proxmox import become_administrator
from tests.real.apply.scene import CLOCK, Kind, Scene, scene
from tests.real.apply.shoulders import words_of_family

APPLY = ("apply", "--yes", "--push")
_AT_ONCE = 4
"""Clusters that are made side by side: most of their time is waiting."""


@dataclass(kw_only=True)
class Made:
    """A cluster after its first run."""

    scene: Scene
    ran: Ran
    """What the run told."""
    words: frozenset[str] = frozenset()
    """Words of all command lines that were seen meanwhile. Empty: nobody looked."""
    seconds: float = 0.0
    """How long it took, with the lab."""

    @property
    def talosconfig(self) -> Path:
        return self.scene.directory / "talos" / "clusterconfig" / "talosconfig"

    @property
    def kubeconfig(self) -> Path:
        return self.scene.directory / "kubeconfig"


Making = Callable[[Kind, Path, ExitStack], Made]
"""Makes a cluster in a folder; what is to end with the test goes onto the stack."""


class Herd:
    """Makes clusters at the same time, and tells when one of them is there."""

    def __init__(self, wanted: Mapping[str, tuple[Kind, Making]], folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._pool = ThreadPoolExecutor(max_workers=_AT_ONCE)
        self._coming = {
            name: self._pool.submit(self._made, name, kind, making)
            for name, (kind, making) in wanted.items()
        }

    def __getitem__(self, name: str) -> Made:
        return self._coming[name].result()

    def end(self) -> None:
        """Wait for those that come still, and stop all labs."""
        self._pool.shutdown(cancel_futures=True)
        self._stack.close()

    def _made(self, name: str, kind: Kind, making: Making) -> Made:
        folder = self._folder / name
        folder.mkdir()
        begun = CLOCK.now()
        made = making(kind, folder, self._stack)
        made.seconds = (CLOCK.now() - begun).total_seconds()
        made.scene.without_administrator()
        return made


@contextmanager
def herd(wanted: Mapping[str, tuple[Kind, Making]], folder: Path) -> Iterator[Herd]:
    """The clusters; their labs end with the context."""
    found = Herd(wanted, folder)
    try:
        yield found
    finally:
        found.end()


def with_token(kind: Kind, folder: Path, stack: ExitStack) -> Made:
    """Let the token of the lab make a cluster."""
    lab_scene = stack.enter_context(scene(kind, folder))
    return Made(scene=lab_scene, ran=lab_scene.stockman(*APPLY))


def with_password(kind: Kind, folder: Path, stack: ExitStack) -> Made:
    """Let somebody with a password make a cluster, telling everything, and look over shoulders."""
    lab_scene = stack.enter_context(scene(kind, folder))
    become_administrator(lab_scene)
    planned = lab_scene.stockman("-vv", "plan", "--out", str(folder / "kept-plan.json"))
    (folder / "planned.txt").write_text(f"{planned.out}{planned.err}")
    told = folder / "applied.txt"
    with lab_scene.begun("-vv", *APPLY, told=told) as process:
        words = words_of_family(process)
    return Made(scene=lab_scene, ran=Ran(process.returncode, told.read_text(), ""), words=words)
