"""Whatever a server answers, a call ends with records or with a problem, never with a trace."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stockman.model.errors import Rejected, StockmanError
from stockman.model.names import HostName
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.transport import Reply
from tests.adapters.http_proxmox.talking import SimulatedClock
from tests.proxmox.every_call import EVERY
from tests.proxmox.test_reading import Canned

KEYS = st.sampled_from(
    [
        *("type", "node", "vmid", "name", "status", "time", "id", "map", "members", "result"),
        *("ha", "managed", "cpuinfo", "memory", "nodes", "privs", "value", "volid", "storage"),
        *("exitstatus", "t", "not_allowed_nodes", "local_disks", "ip-addresses", "size", "iface"),
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["qemu", "node", "storage", "stopped", "OK", "UPID:a", "1e999", "9" * 30])
)
ANSWERS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=12,
)
CALLS = [(name, act) for name, acts in EVERY.items() for act in acts]


@settings(max_examples=300)
@given(st.sampled_from(range(len(CALLS))), ANSWERS, st.none() | st.integers(0, 99))
def test_no_answer_breaks_a_call(number: int, data: object, total: int | None) -> None:
    _, act = CALLS[number]
    pve = ProxmoxClient(Canned(Reply(data=data, total=total)), SimulatedClock())

    async def ask() -> None:
        await act(pve)

    with suppress(StockmanError):
        asyncio.run(ask())


@pytest.mark.parametrize("volume", ["", "none", "/dev/sda", "local:"])
def test_what_is_no_volume_is_told_and_never_deleted(volume: str) -> None:
    pve = ProxmoxClient(Canned(Reply(data=None)), SimulatedClock())

    with pytest.raises(Rejected, match=r"proxmox\.parameters"):
        asyncio.run(pve.delete_volume(HostName("pve1"), volume))
