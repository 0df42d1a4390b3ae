"""Machines that come and go."""

from __future__ import annotations

import pytest

from stockman.talos.machine.assembly import ConfigurationAssembler, render_worker_template
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.apply import load_documents
from stockman.talos.validation.report import RuntimeMode
from stockman.talos.validation.validate import validate
from tests.talos.machine.clusters import TALOS, bundle, desired


def configuration(line: str) -> str:
    state = desired(line)
    worker = next(node for node in state.nodes if not node.is_controller)
    assembled = ConfigurationAssembler(state, bundle(), PatchSet()).of(worker)
    return render_worker_template(assembled.reveal_trees()).reveal()


@pytest.mark.parametrize("line", TALOS)
def test_talos_takes_the_configuration(line: str) -> None:
    documents = load_documents("user-data", configuration(line), line)

    assert not validate(documents, line, RuntimeMode.CLOUD, strict=True).errors


@pytest.mark.parametrize("line", TALOS)
def test_nothing_of_the_worker_itself_is_left(line: str) -> None:
    text = configuration(line)
    worker = next(node for node in desired(line).nodes if not node.is_controller)

    assert str(worker.name) not in text
    assert str(worker.mac_addr) not in text
    assert str(worker.address.ip) not in text


@pytest.mark.parametrize("line", TALOS)
def test_pods_stay_away_until_the_machine_is_known(line: str) -> None:
    assert "key: karpenter.sh/unregistered" in configuration(line)
