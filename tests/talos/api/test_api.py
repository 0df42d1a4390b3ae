"""Every method of the port makes a call of its own, and the reference lists them all."""

import asyncio
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from stockman.talos.api.calls import decode_message
from stockman.talos.api.client import TalosClient
from stockman.talos.api.transport import TalosRequest
from stockman.talos.wire.schema import load_api_schema
from tests.talos.api.every_call import AT, EVERY, IN_MAINTENANCE, Heard, Notebook

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "talos-calls.md"
ROW = re.compile(
    r"^\| (?P<method>\w+) \| `(?P<call>[\w.]+/\w+)`(?: of (?P<kind>\w+))?", re.MULTILINE
)
LISTED = {row["method"]: (row["call"], row["kind"]) for row in ROW.finditer(PAGE.read_text())}
READS = {"ServiceList", "Version", "Time", "Get", "List", "Read", "Kubeconfig", "Events", "Logs"}
READS |= {"Dmesg", "EtcdMemberList", "EtcdStatus", "EtcdAlarmList", "EtcdSnapshot"}


def heard(method: str) -> TalosRequest:
    """The first request that a method makes."""
    return first_request(EVERY[method])


def first_request(call: Callable[[TalosClient], object]) -> TalosRequest:
    """The first request of a call."""
    notebook = Notebook()
    talos = TalosClient(notebook)

    async def made() -> None:
        result = call(talos)
        await (anext(result) if inspect.isasyncgen(result) else result)  # type: ignore[misc]  # a coroutine

    with pytest.raises(Heard):
        asyncio.run(made())
    return notebook.asked[0]


def kind_of(request: TalosRequest) -> str | None:
    """The kind of resources that is asked for. None: it is about none."""
    if not request.method.startswith("cosi."):
        return None
    name = load_api_schema("1.14").method(*request.method.split("/")).request
    return str(decode_message(name, request.message)["type"]).partition(".")[0]


def test_every_method_of_the_port_is_called_here() -> None:
    methods = [name for name, _ in inspect.getmembers(TalosClient, inspect.isfunction)]

    assert sorted(EVERY) == [name for name in sorted(methods) if not name.startswith("_")]


@pytest.mark.parametrize("method", EVERY)
def test_what_is_listed_is_what_is_called(method: str) -> None:
    request = heard(method)

    assert LISTED[method] == (request.method, kind_of(request))


@pytest.mark.parametrize("method", EVERY)
def test_only_reads_may_be_made_again(method: str) -> None:
    request = heard(method)

    assert request.is_read is (request.method.rpartition("/")[2] in READS)


@pytest.mark.parametrize("method", sorted(EVERY.keys() - {"is_in_maintenance"}))
def test_calls_on_members_use_our_certificate(method: str) -> None:
    assert heard(method).stranger is None


@pytest.mark.parametrize("method", IN_MAINTENANCE)
def test_calls_in_maintenance_use_no_certificate_of_ours(method: str) -> None:
    request = first_request(IN_MAINTENANCE[method])

    assert request.stranger == AT
    assert LISTED[method] == (request.method, kind_of(request))


def test_no_other_method_is_listed() -> None:
    assert sorted(LISTED) == sorted(EVERY)
