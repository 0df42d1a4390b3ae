"""Labs whose API servers kubectl talks to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv4Network
from pathlib import Path
from subprocess import CompletedProcess, run

from stockman_lab.testing.thread import LabThread, ProxmoxLab, TalosPorts
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster

TALOS = "1.13.9"
_EARLIER = 900.0
_PATIENCE = 60.0


@dataclass(frozen=True)
class Kubectl:
    """A served cluster, and kubectl as its administrator."""

    lab: ProxmoxLab
    program: Path
    config: Path

    def command(self, *arguments: str | Path) -> list[str | Path]:
        return [self.program, "--kubeconfig", self.config, *arguments]

    def ask(self, *arguments: str | Path, text: str = "") -> CompletedProcess[str]:
        """What the program prints and how it ends."""
        return run(
            self.command(*arguments),
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )

    def told(self, *arguments: str | Path, text: str = "") -> str:
        """What the program prints where it ends well."""
        found = self.ask(*arguments, text=text)
        assert found.returncode == 0, found.stderr
        return found.stdout


@contextmanager
def kubectl_on_lab(
    scratch: Path, program: Path, network: str, preset: str = "single", *, flux: bool = False
) -> Iterator[Kubectl]:
    """A cluster that is up, on addresses of its own and free ports."""
    now = datetime.now(UTC)  # noqa: TID251  # the program verifies certificates by it
    wished = PresetOptions(preset, IPv4Network(network), now=now.timestamp() - _EARLIER)
    world = preset_world(wished)
    staging = Staging(preset=preset, network=wished.network, talos_version=TALOS, flux=flux)
    stage_cluster(world, staging)
    lab = LabThread(world, scratch, now, port=0, talos=TalosPorts())
    served = lab.start()
    try:
        config = scratch / "kubeconfig"
        config.write_text(lab.kubeconfig(), encoding="utf-8")
        yield Kubectl(served, program, config)
    finally:
        lab.stop()
