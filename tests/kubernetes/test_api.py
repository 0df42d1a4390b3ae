"""Every method of the port makes a call of its own, and the reference lists them all."""

import asyncio
import inspect
import re
from pathlib import Path

import pytest

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.transport import Request
from tests.kubernetes.every_call import EVERY, Heard, Notebook
from tests.kubernetes.scripted import StandingClock

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "kubernetes-calls.md"
ROW = re.compile(r"^\| (?P<method>\w+) \| `(?P<call>[A-Z]+ \S+)` \|$", re.MULTILINE)
LISTED = {row["method"]: row["call"] for row in ROW.finditer(PAGE.read_text())}
DEPLOYMENTS = "/apis/apps/v1/namespaces/NAMESPACE/deployments"


def heard(method: str) -> Request:
    """The first request that a method makes."""
    notebook = Notebook()
    kubernetes: KubernetesClient = KubernetesClient(notebook, StandingClock())

    async def made() -> None:
        found = EVERY[method](kubernetes)
        await (anext(found) if inspect.isasyncgen(found) else found)  # type: ignore[misc]  # a coroutine

    with pytest.raises(Heard):
        asyncio.run(made())
    return notebook.asked[0]


def test_every_method_of_the_port_is_called_here() -> None:
    methods = [name for name, _ in inspect.getmembers(KubernetesClient, inspect.isfunction)]

    assert sorted(EVERY) == [name for name in sorted(methods) if not name.startswith("_")]


@pytest.mark.parametrize("method", EVERY)
def test_what_is_listed_is_what_is_called(method: str) -> None:
    assert LISTED[method].replace("PATH", DEPLOYMENTS) == heard(method).shown


def test_no_other_method_is_listed() -> None:
    assert sorted(LISTED) == sorted(EVERY)


@pytest.mark.parametrize("method", EVERY)
def test_only_what_changes_nothing_may_be_made_again(method: str) -> None:
    request = heard(method)

    assert request.is_read is (request.method == "GET" or method == "may")


@pytest.mark.parametrize("method", EVERY)
def test_what_is_written_says_who_writes(method: str) -> None:
    request = heard(method)

    writes = request.method != "GET" and method not in ("may", "token", "delete")
    assert ("fieldManager", "stockman") in request.query or not writes


def test_the_reference_tells_the_times_that_are_kept() -> None:
    page = PAGE.read_text()

    assert f"{heard('get').seconds:g} s for a read" in page
    assert f"{heard('create').seconds:g} s for a change" in page
