"""Files of an adopted cluster are written once, with everything secret encrypted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from stockman_lab.core.dice import Dice
from stockman_lab.servers.port import WorldClock

from stockman.adapters.git.probe import LocalGitProbe
from stockman.app.adoption.adopt import AdoptionResult, write_adoption
from stockman.app.init.directory import InitContext
from stockman.app.machine_config.machines import load_machines
from stockman.app.rendering.validation import validate
from stockman.app.secrets.bundle import open_bundle
from stockman.app.secrets.keyring import find_keyring
from stockman.assessment.adoption.description import Adoption
from stockman.model.errors import StockmanError
from stockman.model.names import MachineAddress
from stockman.model.secret import Secret
from stockman.planning.starter.observed import CA_FILE
from stockman.talos.machine.assembly import trees_text
from stockman.talos.machine.masking import changed_paths, configuration_values
from tests.app.adopting.running import Running, running
from tests.app.adopting.test_adoption import BY_HAND


def written(
    running: Running, adoption: Adoption, directory: Path, *, dry_run: bool = False
) -> AdoptionResult:
    init_context = InitContext(
        clock=WorldClock(running.world), entropy=Dice(9), repo=LocalGitProbe(directory)
    )
    return write_adoption(adoption, directory, init_context, dry_run=dry_run)


def test_the_directory_means_what_runs_and_opens_with_its_own_key(tmp_path: Path) -> None:
    found = running(patches=(BY_HAND,))
    path = tmp_path / "new"
    adoption = found.adopted()

    told = written(found, adoption, path)

    assert told.complete
    assert [problem for problem in validate(path).problems if problem.is_error] == []
    assert open_bundle(path, find_keyring(path, {})) == found.staged.bundle
    assert (path / CA_FILE).read_text() == "an authority\n"
    known = load_machines(path, {})
    talos = found.doors().talos
    for node in known.nodes:
        live = asyncio.run(talos.machine_configuration(MachineAddress(str(node.address.ip))))
        ours = trees_text(known.documents(node, show_secrets=True))
        assert (
            changed_paths(
                configuration_values(Secret(ours), known.minor),
                configuration_values(live, known.minor),
            )
            == ()
        )


def test_no_secret_stands_in_the_clear(tmp_path: Path) -> None:
    found = running(patches=(BY_HAND,))

    written(found, found.adopted(), tmp_path)

    bundle = found.staged.bundle
    canaries = ["swordfish", bundle.cluster.secret.reveal(), bundle.trustdinfo.token.reveal()]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    texts = {path.name: path.read_text() for path in files}
    assert {
        name for name, text in texts.items() if any(canary in text for canary in canaries)
    } == set()
    assert "ENC[" in texts["all.sops.yaml"]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    found = running("single")
    adoption = found.adopted()
    (tmp_path / "nodes.yaml").write_text("mine\n")

    with pytest.raises(StockmanError, match=r"adopt\.exists"):
        written(found, adoption, tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["nodes.yaml"]


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    found = running("single")

    told = written(found, found.adopted(), tmp_path, dry_run=True)

    assert "cluster.yaml" in [file.path for file in told.files]
    assert list(tmp_path.iterdir()) == []


def test_a_second_look_at_the_same_cluster_gives_the_same_files() -> None:
    found = running()

    assert found.adopted().draft == found.adopted().draft
