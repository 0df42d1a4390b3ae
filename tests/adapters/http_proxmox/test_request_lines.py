"""Lines about requests: enough for a bug report, and nothing confidential."""

from __future__ import annotations

import logging

import pytest

from stockman.model.errors import StockmanError
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.vms import VmUpdate
from tests.adapters.http_proxmox.scripted import Answer, Asked, ScriptedServer
from tests.adapters.http_proxmox.talking import talk
from tests.adapters.http_proxmox.test_wire import AT, UPID, VERSION


def answers(request: Asked) -> Answer:
    if request.path.endswith("/start"):
        return Answer(status=500, reason="VM 100 already running")
    return VERSION if request.method == "GET" else Answer(UPID)


async def requests(pve: ProxmoxClient) -> None:
    await pve.version()
    await pve.update_vm(AT, VmUpdate(values={"cipassword": "hunter2-canary"}))
    with pytest.raises(StockmanError):
        await pve.start_vm(AT)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (logging.DEBUG, ["GET version: 200", "POST config: 200", "POST start: 500"]),
        (logging.INFO, ["POST config: 200", "POST start: 500"]),
    ],
)
def test_requests_are_logged_with_status_and_without_secrets(
    level: int, expected: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(level, "stockman.requests")

    talk(ScriptedServer(answers), requests)

    lines = [record.getMessage() for record in caplog.records if record.name.startswith("stockman")]
    shown = [
        f"{line.split(' ')[0]} {line.split(': ')[0].split('/')[-1]}: {line.split(': ')[1]}"
        for line in lines
    ]
    assert [line.split(",")[0] for line in shown] == expected
    assert all(line.endswith(" s") for line in lines)
    assert "canary" not in repr(lines)
