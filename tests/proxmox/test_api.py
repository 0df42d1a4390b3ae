"""Every method of the port makes a call of its own."""

import asyncio
import inspect

import pytest

from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.transport import Request
from tests.adapters.http_proxmox.talking import SimulatedClock
from tests.proxmox.every_call import EVERY, Heard, Notebook


def heard(method: str) -> list[Request]:
    """Requests that a method makes, in each of its forms."""
    notebook = Notebook()
    pve: ProxmoxClient = ProxmoxClient(notebook, SimulatedClock())
    for act in EVERY[method]:
        with pytest.raises(Heard):
            asyncio.run(_awaited(act(pve)))
    return notebook.asked


async def _awaited(something: object) -> None:
    await something  # type: ignore[misc]  # a coroutine of the port


def test_every_method_of_the_port_is_called_here() -> None:
    methods = [name for name, _ in inspect.getmembers(ProxmoxClient, inspect.isfunction)]

    assert sorted(EVERY) == [name for name in sorted(methods) if not name.startswith("_")]


@pytest.mark.parametrize("method", EVERY)
def test_every_method_makes_a_call_that_can_be_written_down(method: str) -> None:
    requests = heard(method)

    assert requests
    for request in requests:
        assert request.quoted.startswith("/")
        assert all(isinstance(value, str) for _, value in request.pairs)
