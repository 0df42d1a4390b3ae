"""What goes wrong with object storage while backups are made."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.http.messages import Cut, Response

from lab.tests.objects.asking import Asker, code, members
from lab.tests.objects.signing import Ask


@pytest.mark.parametrize("effect", [Effect.CUT, Effect.KILL])
def test_it_is_down(effect: Effect) -> None:
    asker = Asker()
    asker.let(effect, times=None)
    assert isinstance(asker.told(Ask("PUT", "/flock/a", {}, {}, b"wool")).outcome, Cut)
    assert not asker.state.buckets["flock"].objects


def test_it_cannot_right_now() -> None:
    asker = Asker()
    asker.let(Effect.FAIL, match={"operation": "put"}, seconds=5)
    refused = asker.put("a")
    assert code(refused) == "503 SlowDown"
    assert refused.headers["Retry-After"] == "5"
    assert code(asker.put("a")) == "200"


def test_it_dies_in_the_middle_of_an_upload_and_the_parts_stay() -> None:
    asker = Asker()
    asker.let(Effect.CUT, match={"operation": "put-part"}, skip=1, times=None)
    upload = asker.begun("large")
    asker.part("large", upload, 1, b"part")
    second = Ask(
        "PUT", "/flock/large", {"partNumber": "2", "uploadId": upload}, {}, b"another part"
    )
    assert isinstance(asker.told(second).outcome, Cut)
    assert members(asker.said("GET", "/flock", {"uploads": ""}), "UploadId") == [upload]
    assert members(asker.said("GET", "/flock/large", {"uploadId": upload}), "PartNumber") == ["1"]
    assert members(asker.said("GET", "/flock", {"list-type": "2"}), "Key") == []


def test_it_dies_after_it_finished_an_upload() -> None:
    asker = Asker()
    asker.let(Effect.DO_THEN_CUT, match={"operation": "put"})
    assert isinstance(asker.told(Ask("PUT", "/flock/a", {}, {}, b"wool")).outcome, Cut)
    assert asker.said("GET", "/flock/a").body == b"wool"


@pytest.mark.parametrize(("how", "size"), [("", 4), ("truncated", 2)])
def test_it_keeps_other_bytes_and_says_nothing(how: str, size: int) -> None:
    asker = Asker()
    right = asker.put("a").headers["ETag"]
    asker.let(Effect.CORRUPT, match={"operation": "put"}, message=how)
    assert asker.put("a").headers["ETag"] == right
    result = asker.said("GET", "/flock/a")
    assert result.headers["ETag"] == right
    assert (len(result.body), result.body == b"wool") == (size, False)


def test_it_keeps_other_bytes_of_a_part() -> None:
    asker = Asker()
    asker.let(Effect.CORRUPT, match={"operation": "put-part"})
    upload = asker.begun("a")
    tag = asker.part("a", upload, 1, b"wool")
    part = f"<Part><PartNumber>1</PartNumber><ETag>{tag}</ETag></Part>"
    text = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>"
    asker.said("POST", "/flock/a", {"uploadId": upload}, {}, text.encode())
    body = asker.said("GET", "/flock/a").body
    assert (len(body), body == b"wool") == (4, False)


@pytest.mark.parametrize("how", ["", "truncated"])
def test_it_sends_other_bytes(how: str) -> None:
    asker = Asker()
    asker.put("a")
    asker.let(Effect.CORRUPT, match={"operation": "get"}, message=how)
    first, second = (asker.said("GET", "/flock/a").body for _ in range(2))
    assert (first == b"wool", second == b"wool") == (False, True)


@pytest.mark.parametrize("seconds", [3600, -3600])
def test_its_clock_is_wrong(seconds: float) -> None:
    asker = Asker()
    asker.let(Effect.LIE, seconds=seconds, times=2)
    answers = [code(asker.put("a")) for _ in range(3)]
    assert answers == ["403 RequestTimeTooSkewed", "403 RequestTimeTooSkewed", "200"]


def test_a_clock_that_is_not_wrong_is_no_fault() -> None:
    with pytest.raises(ValueError, match="how wrong its clock is"):
        Fault(Point.OBJECTS, Effect.LIE)


def test_a_fault_is_about_one_bucket_or_key() -> None:
    asker = Asker()
    asker.let(Effect.FAIL, match={"bucket": "flock", "key": "backups/*"}, times=None)
    assert [asker.put(key).status for key in ("locks/a", "backups/a")] == [200, 503]


def test_an_answer_comes_late() -> None:
    asker = Asker()
    asker.let(Effect.DELAY, seconds=40)
    result = asker.told(Ask("GET", "/flock"))
    assert isinstance(result.outcome, Response)
    assert (result.outcome.status, result.seconds) == (200, 40)
