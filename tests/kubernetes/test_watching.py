"""How a watch goes on when the server ends it, forgets, or is gone."""

import asyncio
import json
from contextlib import aclosing

import pytest

from stockman.kubernetes import problems
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.errors import Expired
from stockman.kubernetes.objects import CONFIG_MAPS, WatchEventType
from stockman.kubernetes.transport import Reply
from stockman.model.errors import Busy, Rejected, Unreachable
from tests.kubernetes.scripted import Answer, ScriptedWire, StandingClock


def event(kind: str, version: int, name: str = "wool") -> dict[str, object]:
    return {"type": kind, "object": {"metadata": {"name": name, "resourceVersion": str(version)}}}


def listed(version: int) -> dict[str, object]:
    return {"metadata": {"resourceVersion": str(version)}, "items": []}


def gone() -> dict[str, object]:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    return {"type": "ERROR", "object": status}


def cut() -> Unreachable:
    return Unreachable(problems.no_reply("GET", "the connection was lost"))


def followed(
    *answers: Answer, sights: int = 9
) -> tuple[list[tuple[WatchEventType, str]], ScriptedWire]:
    """What a watch tells, as long as there are answers."""
    wire = ScriptedWire(*answers)
    kubernetes = KubernetesClient(wire, StandingClock())

    async def told() -> list[tuple[WatchEventType, str]]:
        found: list[tuple[WatchEventType, str]] = []
        async with aclosing(kubernetes.watch(CONFIG_MAPS)) as watch:
            while len(found) < sights:
                sight = await anext(watch)
                found.append((sight.type, sight.version))
        return found

    return asyncio.run(told()), wire


def test_a_watch_that_the_server_ends_goes_on_behind_its_last_bookmark() -> None:
    found, wire = followed(
        listed(5),
        [event("ADDED", 6), event("BOOKMARK", 9)],
        [event("DELETED", 12)],
        sights=4,
    )

    assert [version for _, version in found] == ["5", "6", "9", "12"]
    assert found[2][0] is WatchEventType.BOOKMARK
    assert [query.get("resourceVersion") for query in wire.queries()] == [None, "5", "9"]
    assert wire.queries()[1]["allowWatchBookmarks"] == "true"


@pytest.mark.parametrize("number", range(1, 4))
def test_what_is_forgotten_is_listed_anew(number: int) -> None:
    answers: list[Answer] = [listed(5), [gone()]]
    for _ in range(number - 1):
        answers += [listed(5), [gone()]]
    found, _ = followed(*answers, listed(20), [event("MODIFIED", 21)], sights=number + 2)

    assert found[-2:] == [(WatchEventType.LISTED, "20"), (WatchEventType.CHANGED, "21")]


def test_a_server_that_always_forgets_is_given_up() -> None:
    answers: list[Answer] = []
    for _ in range(4):
        answers += [listed(5), [gone()]]

    with pytest.raises(Expired):
        followed(*answers)


def test_a_busy_server_is_not_asked_again_at_once() -> None:
    body = json.dumps({"message": "too many requests"}).encode()

    with pytest.raises(Busy) as caught:
        followed(listed(5), Reply(status=429, body=body, headers={"retry-after": "3"}), listed(6))

    assert caught.value.retry_after == 3


def test_a_connection_that_is_cut_is_made_again_and_misses_nothing() -> None:
    found, wire = followed(
        listed(5),
        [event("ADDED", 6), cut()],
        [event("MODIFIED", 7), cut()],
        [event("DELETED", 8)],
        sights=4,
    )

    assert [version for _, version in found] == ["5", "6", "7", "8"]
    assert [query.get("resourceVersion") for query in wire.queries()] == [None, "5", "6", "7"]


def test_a_server_that_is_gone_is_given_up_after_a_second_try() -> None:
    with pytest.raises(Unreachable):
        followed(listed(5), [event("ADDED", 6), cut()], cut())


def test_a_server_that_ends_every_watch_at_once_is_given_up() -> None:
    with pytest.raises(Unreachable) as caught:
        followed(listed(5), [], [])

    assert caught.value.problem.why == "the server ends every watch immediately"


@pytest.mark.parametrize(
    "piece", [b"nonsense\n", b'{"type": "SHORN"}\n', b'{"type": "ADDED", "object": {}}\n']
)
def test_an_event_that_is_none_is_told(piece: bytes) -> None:
    with pytest.raises(Rejected) as caught:
        followed(listed(5), [piece])

    assert caught.value.problem.code == "kubernetes.answer"


def test_events_may_come_in_any_pieces() -> None:
    line = b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"6"}}}\n'
    again = line.replace(b'"6"', b'"7"')
    found, _ = followed(listed(5), [line[:9], line[9:] + again[:3], again[3:]], sights=3)

    assert [version for _, version in found] == ["5", "6", "7"]


def test_pages_that_are_no_longer_kept_are_read_at_once() -> None:
    page = {"metadata": {"resourceVersion": "5", "continue": "more"}, "items": [{"metadata": {}}]}
    gone_page = {"message": "the continue parameter is too old", "reason": "Expired", "code": 410}
    wire = ScriptedWire(page, _refused(gone_page), listed(9))

    objects = asyncio.run(KubernetesClient(wire, StandingClock()).objects(CONFIG_MAPS))

    assert (objects.items, objects.version) == ((), "9")
    assert [(query.get("limit"), query.get("continue")) for query in wire.queries()] == [
        ("500", None),
        ("500", "more"),
        (None, None),
    ]


def _refused(body: dict[str, object]) -> Answer:
    return Reply(status=410, body=json.dumps(body).encode())


def test_lists_of_an_aggregated_api_may_have_no_resource_version() -> None:
    page = {"metadata": {}, "items": [{"metadata": {"name": "talos-1"}}]}
    kubernetes = KubernetesClient(ScriptedWire(page), StandingClock())

    nodes = asyncio.run(kubernetes.objects(CONFIG_MAPS))

    assert (nodes.version, len(nodes.items)) == ("", 1)
