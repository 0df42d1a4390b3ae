"""Health is told in one word, or check by check."""

from __future__ import annotations

import pytest
from stockman_lab.kube.discovery.health import CHECKS, health

NAMES = sorted(CHECKS)


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_is_well_says_so(name: str) -> None:
    assert health(name) == (True, "ok")


@pytest.mark.parametrize("name", NAMES)
def test_every_check_is_told_when_asked_for(name: str) -> None:
    found = health(name, verbose=True)

    assert found.text.splitlines() == [
        *(f"[+]{one} ok" for one in CHECKS[name]),
        f"{name} check passed",
    ]


def test_a_failure_is_told_with_all_checks_and_without_its_reason() -> None:
    found = health("readyz", {"etcd"})

    assert not found.passed
    assert "[-]etcd failed: reason withheld\n" in found.text
    assert found.text.endswith("readyz check failed")
