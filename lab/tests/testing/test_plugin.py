"""Others get a Proxmox VE in their tests with one word."""

from __future__ import annotations

import json
import ssl
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.testing.thread import ProxmoxLab

import stockman

pytest_plugins = ["pytester"]

TEST = """
    import json, ssl, urllib.request
    import pytest

    @pytest.mark.proxmox_lab(preset="home", pve="8.4")
    def test_release(proxmox_lab):
        context = ssl.create_default_context(cafile=proxmox_lab.ca)
        request = urllib.request.Request(
            f"{proxmox_lab.endpoint}/api2/json/version",
            headers={"Authorization": proxmox_lab.authorization},
        )
        with urllib.request.urlopen(request, context=context) as reply:
            assert json.load(reply)["data"]["release"] == "8.4"
        assert "fun-bedbug" in proxmox_lab.hosts
"""


def asked(lab: ProxmoxLab, path: str) -> Any:
    context = ssl.create_default_context(cafile=lab.ca)
    url = f"{lab.endpoint}/api2/json{path}"
    request = urllib.request.Request(url, headers={"Authorization": lab.authorization})
    with urllib.request.urlopen(request, context=context, timeout=20) as reply:
        return json.load(reply)["data"]


@pytest.fixture
def pytester_with_lab(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    source = Path(stockman.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", str(source))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest("pytest_plugins = ['stockman_lab.testing.plugin']")
    return pytester


def test_a_test_of_somebody_else_uses_it(pytester_with_lab: pytest.Pytester) -> None:
    pytester_with_lab.makepyfile(TEST)
    pytester_with_lab.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_wrong_word_in_the_mark_is_told(pytester_with_lab: pytest.Pytester) -> None:
    pytester_with_lab.makepyfile(TEST.replace("pve=", "version="))
    result = pytester_with_lab.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the mark proxmox_lab takes no version*"])


@pytest.mark.proxmox_lab(preset="three-node")
def test_faults_and_time_are_at_hand(proxmox_lab: ProxmoxLab) -> None:
    assert [row["name"] for row in asked(proxmox_lab, "/cluster/status")[1:]] == [
        "trinity", "neo", "niobe",
    ]  # fmt: skip
    proxmox_lab.fault("host", "kill", node="neo")
    assert [row["online"] for row in asked(proxmox_lab, "/cluster/status")[1:]] == [1, 0, 1]
    number = proxmox_lab.fault("request", "lie", times=None, path="/pools")
    proxmox_lab.fault("request", "delay", seconds=40, path="/version")
    assert asked(proxmox_lab, "/version")
    proxmox_lab.run(lambda: MemoryClient(proxmox_lab.world, "k8s").post("/pools", poolid="wool"))
    assert asked(proxmox_lab, "/pools") == []
    proxmox_lab.take_back(number)
    assert asked(proxmox_lab, "/pools") == [{"poolid": "wool"}]
    before = proxmox_lab.world.now
    proxmox_lab.advance(60)
    assert before + 60 <= proxmox_lab.world.now < before + 120
