"""What plans need of a directory."""

from __future__ import annotations

from pathlib import Path

from stockman.app.runs.workspace import RunWorkspace
from tests.app.secret_workspace import SeededDice
from tests.app.start_doors import StandingClock
from tests.cli.inside import ran_inside


def test_what_is_rendered_is_committed_with_what_it_is_rendered_from_and_without_keys(
    tmp_path: Path,
) -> None:
    ran = ran_inside("init", str(tmp_path), "--preset", "three-node", "--yes")
    assert ran.status == 0, ran.err
    file = tmp_path / "cluster.yaml"
    named = file.read_text().replace("\nproxmox:\n", "\nproxmox:\n  tls: {ca_file: our-ca.pem}\n")
    file.write_text(named)

    wish, _ = RunWorkspace(tmp_path, {}, StandingClock(), SeededDice()).kubernetes()

    assert wish is not None
    assert {"cluster.yaml", "nodes.yaml", ".gitignore", "our-ca.pem"} <= set(wish.files)
    assert {"kubernetes", "talos", ".github", ".renovaterc.json5"} <= set(wish.files)
    assert {".stockman", "age.key", "github-deploy.key"}.isdisjoint(wish.files)
