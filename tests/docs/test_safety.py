"""The safety page has every path that can destroy something, with conditions that exist."""

from __future__ import annotations

import pytest

from docs._ext import safety
from docs._ext.safety import PATHS, DestructivePath


def test_the_methods_that_can_destroy_are_found_in_the_clients() -> None:
    methods = safety.destructive_methods()

    assert {"delete_vm", "stop_vm", "shutdown_vm", "reboot_vm", "delete_volume"} <= set(methods)
    assert {"reset", "reboot", "shut_down", "roll_back", "bootstrap"} <= set(methods)
    assert {"leave_etcd", "remove_etcd_member", "send_etcd_snapshot"} <= set(methods)
    assert {"delete", "evict"} <= set(methods)


def test_every_function_that_can_destroy_something_has_an_entry() -> None:
    called = safety.callers(safety.destructive_methods())

    assert sorted(called) == sorted({safety.name_of(path.code) for path in PATHS})


def test_a_caller_without_an_entry_is_found() -> None:
    assert safety.callers(["server_version"]).keys() == {
        "stockman.engine.observe.kubernetes._KubernetesReader.version",
        "stockman.steps.etcd.bootstrap.find_earlier_etcd",
    }


@pytest.mark.parametrize("path", PATHS, ids=lambda path: safety.name_of(path.code))
def test_conditions_are_documented_and_used_by_the_code_or_its_plan(path: DestructivePath) -> None:
    for condition in path.conditions:
        assert safety.first_line(condition), condition.__qualname__
        assert safety.is_used(condition), condition.__qualname__
    assert safety.is_checked_there(path)


def test_the_page_has_the_current_tables() -> None:
    text = safety.PAGE.read_text("utf-8")

    assert text == safety.page_with_tables(text), "run `python -m docs._ext.safety`"
