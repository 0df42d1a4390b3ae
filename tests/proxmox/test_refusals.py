"""What a no of Proxmox VE means."""

from __future__ import annotations

import pytest

from stockman.model.errors import (
    Conflict,
    Denied,
    Locked,
    NotFound,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
)
from stockman.model.secret import Secret, clean_text
from stockman.proxmox.errors import ErrorReply, Requester, reply_error
from stockman.proxmox.transport import Request

READ = Request(method="GET", segments=("nodes", "pve1", "qemu", "100", "config"))
CHANGE = Request(method="POST", segments=("nodes", "pve1", "qemu", "100", "config"))
PARAMETERS = "Parameter verification failed."

TEXTS: list[tuple[int, str, type[StockmanError], str]] = [
    (401, "No ticket", Denied, "proxmox.authentication"),
    (401, "Authentication failed!", Denied, "proxmox.authentication"),
    (403, "Permission check failed (/vms/100, VM.Audit)", Denied, "proxmox.denied"),
    (403, "Permission check failed", Denied, "proxmox.denied"),
    (501, "Method 'GET /x' not implemented", Rejected, "proxmox.no-such-call"),
    (500, "storage 'x' does not exist", NotFound, "proxmox.not-found"),
    (
        500,
        "Configuration file 'nodes/pve1/qemu-server/100.conf' does not exist",
        NotFound,
        "proxmox.not-found",
    ),
    (500, "no such resource 'vm:100'", NotFound, "proxmox.not-found"),
    (500, "no such ha rule 'x'", NotFound, "proxmox.not-found"),
    (
        500,
        "hostname lookup 'nodex' failed - failed to get address info for: nodex: Name not known",
        Unreachable,
        "proxmox.host-down",
    ),
    (500, "got no worker upid - start worker failed", Unreachable, "proxmox.timeout"),
    (500, "VM 100 qmp command 'query-status' failed - got timeout", Unreachable, "proxmox.timeout"),
    (500, "VM quit/powerdown failed - got timeout", Rejected, "proxmox.refused"),
    (500, "can't open '/mnt/x.raw' - No such file or directory", Rejected, "proxmox.refused"),
    (500, "unable to create VM 101: config file already exists", Conflict, "proxmox.exists"),
    (500, "resource ID 'vm:100' already defined", Conflict, "proxmox.exists"),
    (500, "snapshot name 's' already used", Conflict, "proxmox.exists"),
    (500, "VM is locked (clone)", Locked, "proxmox.locked"),
    (500, "CT is locked (backup)", Locked, "proxmox.locked"),
    (
        500,
        "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout",
        Locked,
        "proxmox.locked",
    ),
    (
        500,
        "cfs-lock 'storage-x' error: got lock request timeout",
        Locked,
        "proxmox.locked",
    ),
    (500, "checksum mismatch (file change by other user?)", Conflict, "proxmox.changed"),
    (
        500,
        "detected modified configuration - file changed by other user? Try again.",
        Conflict,
        "proxmox.changed",
    ),
    (500, "cluster not ready - no quorum?", Unreachable, "proxmox.no-quorum"),
    (500, "cfs-lock 'file-user_cfg' error: no quorum!", Unreachable, "proxmox.no-quorum"),
    (500, "VM 100 is running - destroy failed", Conflict, "proxmox.state"),
    (500, "VM 100 not running", Conflict, "proxmox.state"),
    (500, "QEMU guest agent is not running", Unreachable, "proxmox.agent"),
    (500, "No QEMU guest agent configured", Unreachable, "proxmox.agent"),
    (500, "shrinking disks is not supported", Rejected, "proxmox.refused"),
    (500, "only root can set 'args' config", Rejected, "proxmox.refused"),
    (500, "invalid bootorder: device 'x' does not exist'", Rejected, "proxmox.refused"),
    (500, "", Rejected, "proxmox.refused"),
    (400, PARAMETERS, Rejected, "proxmox.parameters"),
    (502, "Bad Gateway", Rejected, "proxmox.answer"),
]


@pytest.mark.parametrize(("status", "text", "kind", "code"), TEXTS)
@pytest.mark.parametrize("in_body", [True, False])
def test_words_decide(
    status: int, text: str, kind: type[StockmanError], code: str, in_body: bool
) -> None:
    body = f"{text}\n" if in_body and text else ""

    stockman_error = reply_error(READ, ErrorReply(status=status, reason=text, message=body))

    assert type(stockman_error) is kind
    assert stockman_error.problem.code == code
    assert text.removesuffix(".") in stockman_error.problem.why
    assert "\n" not in stockman_error.problem.why


@pytest.mark.parametrize(
    ("errors", "kind", "code"),
    [
        ({"vmid": "VM 100 already exists"}, Conflict, "proxmox.exists"),
        ({"tokenid": "Token already exists."}, Conflict, "proxmox.exists"),
        ({"storage": "No such storage."}, NotFound, "proxmox.not-found"),
        ({"upid": "no such task"}, NotFound, "proxmox.not-found"),
        ({"iface": "interface does not exist\n"}, NotFound, "proxmox.not-found"),
        ({"cores": "type check ('integer') failed - got 'x'"}, Rejected, "proxmox.parameters"),
    ],
)
def test_words_about_parameters_decide(
    errors: dict[str, str], kind: type[StockmanError], code: str
) -> None:
    stockman_error = reply_error(READ, ErrorReply(status=400, reason=PARAMETERS, errors=errors))

    assert (type(stockman_error), stockman_error.problem.code) == (kind, code)
    assert all(
        f"{name}: {text.strip()}" in stockman_error.problem.why for name, text in errors.items()
    )


def test_a_missing_privilege_is_named_with_its_path() -> None:
    told = "Permission check failed (/storage/x, Datastore.Audit|Datastore.AllocateSpace)"

    problem = reply_error(READ, ErrorReply(status=403, reason=told)).problem

    assert problem.what == (
        "the token lacks Datastore.Audit or Datastore.AllocateSpace on /storage/x"
    )


def test_a_token_that_has_ended_is_told_apart_where_the_server_does() -> None:
    told = "token 'main' access expired"
    asker = Requester(name="token stockman@pve!main")

    problem = reply_error(READ, ErrorReply(status=401, reason=told, requester=asker)).problem

    assert problem.what == "the token stockman@pve!main has expired"
    assert problem.fix.startswith("extend its expiry")


@pytest.mark.parametrize("status", [595, 596, 597, 599])
def test_a_host_that_others_cannot_reach_is_unreachable_for_reads(status: int) -> None:
    stockman_error = reply_error(READ, ErrorReply(status=status, reason="No route to host"))

    assert (type(stockman_error), stockman_error.problem.code) == (Unreachable, "proxmox.host-down")
    assert "pve1" in stockman_error.problem.what


def test_a_change_that_never_got_to_its_host_was_not_made() -> None:
    assert type(reply_error(CHANGE, ErrorReply(status=595))) is Unreachable


@pytest.mark.parametrize("status", [596, 597, 599])
def test_a_change_that_got_lost_on_the_way_may_have_been_made(status: int) -> None:
    stockman_error = reply_error(CHANGE, ErrorReply(status=status, reason="Connection timed out"))

    assert (type(stockman_error), stockman_error.problem.code) == (
        Uncertain,
        "proxmox.unknown-outcome",
    )


def test_a_secret_that_the_server_says_back_is_hidden() -> None:
    request = Request(
        method="POST", segments=("storage",), parameters={"password": Secret("hunter2-hunter2")}
    )
    errors = {"password": "value 'hunter2-hunter2' is too short"}

    told = str(
        reply_error(request, ErrorReply(status=400, reason=PARAMETERS, errors=errors)).problem
    )

    assert "hunter2" not in told
    assert "value '***' is too short" in told


def test_texts_are_fit_for_a_terminal() -> None:
    assert clean_text("a\x1b[31mb\r\nc\u2028d ") == "a [31mb c d"
    assert len(clean_text("x" * 10_000)) == 603
