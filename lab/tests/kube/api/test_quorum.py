"""What the server says when its etcd cannot agree or is full."""

from __future__ import annotations

from stockman_lab.etcd.cluster import Alarm, AlarmKind

from lab.tests.kube.asking import MAPS, served


def test_without_a_quorum_reading_and_writing_time_out() -> None:
    server = served(members=3)
    server.made("a")
    server.alive.remove("1")
    server.alive.remove("2")

    read, written = server.ask("GET", MAPS), server.made("b")

    assert read["message"] == written["message"] == "etcdserver: request timed out"
    assert read["code"] == 500
    assert "reason" not in read


def test_without_a_quorum_the_cache_still_answers() -> None:
    server = served(members=3)
    server.made("a")
    server.alive.clear()

    answer = server.ask("GET", f"{MAPS}?resourceVersion=0")

    assert [item["metadata"]["name"] for item in answer["items"]] == ["a"]


def test_without_any_member_requests_take_too_long() -> None:
    server = served()
    server.alive.clear()

    assert server.ask("GET", MAPS)["code"] == 504
    assert server.ask("GET", MAPS)["reason"] == "Timeout"


def test_without_room_nothing_is_written_but_all_is_read() -> None:
    server = served()
    server.made("a")
    server.cluster.alarms.append(Alarm("1", AlarmKind.NOSPACE))

    refused = server.made("b")

    assert refused["message"] == "etcdserver: mvcc: database space exceeded"
    assert server.ask("GET", f"{MAPS}/a")["kind"] == "ConfigMap"
    assert server.ask("DELETE", f"{MAPS}/a")["status"] == "Success"


def test_health_tells_of_a_lost_quorum() -> None:
    server = served(members=3)
    assert server.respond("GET", "/readyz").body == b"ok"

    server.alive.clear()

    assert server.respond("GET", "/readyz").status == 500
