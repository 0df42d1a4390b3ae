"""What the answers of Kubernetes mean."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.errors import Expired, Forbidden, Invalid, Permission, reply_error
from stockman.kubernetes.objects import (
    SECRETS,
    EvictionBlocked,
    JsonPatch,
    MergePatch,
    ObjectRef,
    ServerSideApply,
)
from stockman.kubernetes.transport import Reply, Request
from stockman.model.errors import (
    Busy,
    Conflict,
    Denied,
    NotFound,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
    Unsupported,
)
from tests.kubernetes.scripted import ScriptedWire, told

READ = Request(method="GET", segments=("api", "v1", "pods"))
WRITE = Request(method="POST", segments=("api", "v1", "pods"), is_read=False)


def reply(
    status: int, message: str = "", headers: dict[str, str] | None = None, **more: object
) -> Reply:
    body = json.dumps({"kind": "Status", "message": message, **more}).encode()
    return Reply(status=status, body=body, headers=headers or {})


@pytest.mark.parametrize(
    ("status", "message", "read", "write"),
    [
        (400, "bad", Rejected, Rejected),
        (401, "Unauthorized", Denied, Denied),
        (403, "quota", Denied, Denied),
        (405, "no", Unsupported, Unsupported),
        (406, "only JSON", Rejected, Rejected),
        (409, "modified", Conflict, Conflict),
        (410, "too old", Expired, Expired),
        (413, "too large", Rejected, Rejected),
        (422, "wrong", Invalid, Invalid),
        (429, "later", Busy, Busy),
        (500, "failed calling webhook", Rejected, Rejected),
        (500, "etcdserver: leader changed", Unreachable, Uncertain),
        (500, "what now", Rejected, Uncertain),
        (502, "bad gateway", Unreachable, Uncertain),
        (503, "starting", Unreachable, Uncertain),
        (504, "timed out", Unreachable, Uncertain),
        (302, "elsewhere", Rejected, Rejected),
    ],
)
def test_a_status_means(
    status: int, message: str, read: type[StockmanError], write: type[StockmanError]
) -> None:
    assert type(reply_error(READ, reply(status, message))) is read
    assert type(reply_error(WRITE, reply(status, message))) is write


def test_an_object_that_is_missing_is_not_a_kind_that_is_missing() -> None:
    named = reply(404, 'pods "a" not found', reason="NotFound", details={"name": "a"})
    assert type(reply_error(READ, named)) is NotFound
    assert type(reply_error(READ, Reply(status=404, body=b"404 page not found\n"))) is Unsupported


def test_who_may_not_is_told_what() -> None:
    message = (
        'pods "a" is forbidden: User "b" cannot create resource "pods/eviction" in API group ""'
        ' in the namespace "web"'
    )
    stockman_error = reply_error(WRITE, reply(403, message, details={"name": "a"}))
    assert isinstance(stockman_error, Forbidden)
    permission = Permission(verb="create", resource="pods/eviction", namespace="web", name="a")
    assert stockman_error.permission == permission
    assert stockman_error.problem.what == "Kubernetes denies to create pods/eviction"


def test_a_path_that_is_not_allowed_is_named() -> None:
    stockman_error = reply_error(READ, reply(403, 'forbidden: User "b" cannot get path "/readyz"'))
    assert isinstance(stockman_error, Forbidden)
    assert stockman_error.permission == Permission(verb="get", resource="/readyz")


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_says_for_how_long(status: int) -> None:
    by_header = reply_error(WRITE, reply(status, "later", {"retry-after": "7"}))
    by_details = reply_error(WRITE, reply(status, "later", details={"retryAfterSeconds": 3}))
    assert isinstance(by_header, Busy)
    assert isinstance(by_details, Busy)
    assert (by_header.retry_after, by_details.retry_after) == (7, 3)


def test_a_budget_is_an_answer_and_overload_is_none() -> None:
    why = "The disruption budget web is still being processed by the server."
    causes = [{"reason": "DisruptionBudget", "message": why}]
    details = {"causes": causes, "retryAfterSeconds": 10}
    answer = reply(429, "Cannot evict pod", reason="TooManyRequests", details=details)
    evict = asyncio.run(told(answer).evict("web", "web-1"))
    assert evict == EvictionBlocked(budget="web", why=why, retry_after=10)

    with pytest.raises(Busy) as caught:
        asyncio.run(told(reply(429, "later", {"retry-after": "1"})).evict("web", "web-1"))
    assert caught.value.retry_after == 1


DATA = {"b": "aGlkZGVuLXdvb2w="}
SECRET = ObjectRef(kind=SECRETS, name="a", namespace="web")
CONTENT = {"metadata": {"name": "a", "namespace": "web"}, "data": DATA}
OPERATION = {"op": "replace", "path": "/data/b", "value": DATA["b"]}


@pytest.mark.parametrize(
    "act",
    [
        lambda one: one.create(SECRETS, CONTENT),
        lambda one: one.apply(SECRETS, ServerSideApply(content=CONTENT)),
        lambda one: one.patch(SECRET, MergePatch(changes={"stringData": {"b": "hidden-wool"}})),
        lambda one: one.patch(SECRET, JsonPatch(operations=[OPERATION])),
    ],
)
def test_values_of_secrets_are_not_told(
    act: Callable[[KubernetesClient], Awaitable[object]],
) -> None:
    says = 'Secret "a" is invalid: data.b: Invalid value: "hidden-wool", aGlkZGVuLXdvb2w='
    causes = [{"field": "data.b", "message": 'Invalid value: "hidden-wool"'}]
    kubernetes = told(reply(422, says, details={"causes": causes}))

    async def made() -> None:
        await act(kubernetes)

    with pytest.raises(Invalid) as caught:
        asyncio.run(made())

    shown = f"{caught.value.problem} {caught.value.causes}"
    assert "hidden-wool" not in shown
    assert "aGlkZGVuLXdvb2w=" not in shown
    assert "Invalid value" in shown


def test_what_a_server_says_is_fit_for_a_terminal() -> None:
    problem = reply_error(READ, reply(400, f"a\x1b[31m\nb{'c' * 1000}")).problem
    assert problem.why.startswith("a [31m bccc")
    assert len(problem.why) < 700


@pytest.mark.parametrize("body", [b"", b"[]", b"nonsense", b'{"kind": "PodList"}', b"[" * 100_000])
def test_an_answer_that_is_none_is_told(body: bytes) -> None:
    with pytest.raises(Rejected) as caught:
        asyncio.run(told(Reply(status=200, body=body)).nodes())
    assert caught.value.problem.code == "kubernetes.answer"


def test_no_secret_is_shown_with_a_request() -> None:
    wire = ScriptedWire()
    request = Request(method="POST", segments=("api",), body=b"hidden", secrets=("hidden",))
    assert "hidden" not in f"{request!r} {wire!r} {request.shown}"
