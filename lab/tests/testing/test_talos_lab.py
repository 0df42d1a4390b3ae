"""Others get a Talos cluster in their tests with one word."""

from __future__ import annotations

import json
import stat
import urllib.request
from pathlib import Path

import pytest
from stockman_lab.testing.thread import TalosLab

import stockman
from lab.tests.testing.asking import Reached, reached

pytest_plugins = ["pytester"]

TEST = """
    import json, urllib.request
    import pytest

    @pytest.mark.talos_lab(talos="1.12.1", network="127.66.7.0/24")
    def test_what_is_there(talos_lab):
        assert talos_lab.machines == {"talos-1": "127.66.7.11"}
        assert "talos-1" in talos_lab.places
        with urllib.request.urlopen(f"{talos_lab.factory}/versions") as reply:
            assert "v1.12.1" in json.load(reply)

    @pytest.mark.talos_lab(talos="1.12.1", network="127.66.7.0/24")
    def test_made_once(talos_lab, staged_talos_worlds):
        assert len(staged_talos_worlds._made) == 1
        assert {one.version for one in talos_lab.world.talos.machines} == {"v1.12.1"}
"""


@pytest.fixture
def pytester_with_lab(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(Path(stockman.__file__).parents[1]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest("pytest_plugins = ['stockman_lab.testing.plugin']")
    return pytester


def test_tests_of_somebody_else_use_it_and_the_cluster_is_made_once(
    pytester_with_lab: pytest.Pytester,
) -> None:
    pytester_with_lab.makepyfile(TEST)
    pytester_with_lab.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_examples_of_the_documentation_run(pytester_with_lab: pytest.Pytester) -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "test-with-the-lab.md"
    blocks = [text.partition("```")[0] for text in page.read_text().split("```python\n")[1:]]
    alone = [block for block in blocks if "requests" not in block and "subprocess" not in block]
    pytester_with_lab.makepyfile(**{f"test_{place}": one for place, one in enumerate(alone)})
    pytester_with_lab.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=3)


def test_a_wrong_word_in_the_mark_is_told(pytester_with_lab: pytest.Pytester) -> None:
    pytester_with_lab.makepyfile(TEST.replace("talos=", "version="))
    result = pytester_with_lab.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*the mark talos_lab takes no version*"])


@pytest.mark.talos_lab(talos="1.13.9")
def test_machines_answer_over_the_wire_and_go_when_the_network_does(talos_lab: TalosLab) -> None:
    assert stat.S_IMODE(talos_lab.talosconfig.stat().st_mode) == 0o600
    assert reached(talos_lab, "talos-1") is Reached.ANSWERS
    number = talos_lab.fault("network", "fail", times=None, machine="talos-1")
    assert reached(talos_lab, "talos-1") is Reached.NOBODY
    talos_lab.take_back(number)
    assert reached(talos_lab, "talos-1") is Reached.ANSWERS


@pytest.mark.talos_lab(talos="1.13.9")
def test_a_machine_is_found_where_it_was_after_a_reboot(talos_lab: TalosLab) -> None:
    talos_1, (machine,) = talos_lab.places["talos-1"], talos_lab.world.talos.machines
    before = machine.state.boot
    talos_lab.run(lambda: talos_lab.world.talos.reset(machine))
    talos_lab.settle()
    assert machine.state.boot > before
    assert talos_lab.places["talos-1"] == talos_1
    assert reached(talos_lab, "talos-1") is Reached.ANSWERS


@pytest.mark.talos_lab(talos="1.13.9")
def test_time_passes_and_the_factory_answers(talos_lab: TalosLab) -> None:
    before = talos_lab.world.now
    talos_lab.advance(60)
    assert before + 60 <= talos_lab.world.now < before + 120
    with urllib.request.urlopen(f"{talos_lab.factory}/versions", timeout=20) as reply:
        assert "v1.13.9" in json.load(reply)
