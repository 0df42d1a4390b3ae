"""Tokens and passwords stand in headers and forms, and nowhere else."""

import logging
import traceback

import pytest

from stockman.adapters.proxmox.credentials import ApiToken, Login
from stockman.adapters.proxmox.endpoint import Endpoints
from stockman.adapters.proxmox.transport import HttpProxmox
from stockman.model.errors import StockmanError
from stockman.model.names import HostName, Vmid
from stockman.model.secret import Secret
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.vms import GuestRef
from tests.adapters.http_proxmox.scripted import Answer, Asked, ScriptedServer, Trouble
from tests.adapters.http_proxmox.talking import CANARY, QUICK, TOKEN, SimulatedClock, talk

AT = GuestRef(host=HostName("pve1"), vmid=Vmid(100))
LOGIN = Login(user="root@pam", password=Secret(CANARY))


def echo(request: Asked) -> Answer:
    """A server that says everything back, as broken ones and proxies do."""
    heard = " ".join([*request.headers.values(), request.body.decode()])
    return Answer(status=500, reason=heard[:200], message=heard, errors={heard: heard})


async def with_password(pve: ProxmoxClient) -> None:
    await pve.create_vm(AT, {"cipassword": Secret(CANARY)})


@pytest.mark.parametrize("credentials", [TOKEN, LOGIN])
@pytest.mark.parametrize("answer", [echo, lambda _: Trouble.CUT, lambda _: Trouble.HANG])
def test_no_secret_turns_up_in_logs_errors_and_traces(
    credentials: ApiToken | Login,
    answer: object,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    server = ScriptedServer(answer)  # type: ignore[arg-type]  # one of those above

    with pytest.raises(StockmanError) as caught:
        talk(server, with_password, credentials=credentials, timeouts=QUICK)

    shown = [caplog.text, str(caught.value.problem), repr(caught.value.__cause__)]
    shown += traceback.format_exception(caught.value)
    assert len(server.asked) > 0
    assert [text for text in shown if CANARY in text] == []


UPID = "UPID:pve1:00000001:00000001:70DBD880:qmstart:100:root@pam:"


def told_by_a_task(request: Asked) -> Answer:
    """A task that ends with the token of whoever asked, and writes it to its log."""
    token = request.headers["authorization"]
    if request.path.endswith("/log"):
        return Answer([{"n": 1, "t": f"asked with {token}"}], more={"total": 1})
    return Answer({"status": "stopped", "exitstatus": f"cannot ask with {token}"})


def test_a_token_that_a_task_says_back_is_hidden() -> None:
    server = ScriptedServer(told_by_a_task)

    with pytest.raises(StockmanError) as caught:
        talk(server, lambda pve: pve.wait_task(TaskRef.parse(UPID)))

    assert caught.value.problem.code == "proxmox.task-failed"
    assert "cannot ask with PVEAPIToken=stockman@pve!main=***" in caught.value.problem.why
    assert CANARY not in str(caught.value.problem)


def test_the_token_goes_in_the_header_and_not_in_the_address() -> None:
    server = ScriptedServer(lambda _: Answer([]))

    talk(server, lambda pve: pve.pools())

    assert server.asked[0].headers["authorization"] == f"PVEAPIToken=stockman@pve!main={CANARY}"
    assert CANARY not in server.asked[0].target


def test_what_holds_a_secret_does_not_show_it() -> None:
    pve = HttpProxmox(Endpoints(urls=("https://127.0.0.1:8006",)), TOKEN, SimulatedClock())

    assert CANARY not in f"{TOKEN!r} {LOGIN!r} {pve!r} {vars(pve)!r}"
