"""What goes wrong with backups of a cluster can be brought about: snapshots, storage, keys."""

from __future__ import annotations

import hashlib

import pytest
from stockman_lab.commands.runtime.faults import Wanted, wanted_fault
from stockman_lab.core.faults import Fault
from stockman_lab.core.saved import restored
from stockman_lab.http.messages import Cut, Response

from lab.tests.kube.troubles import Troubled
from lab.tests.objects.asking import Asker, code, members
from lab.tests.objects.signing import Ask
from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import staged

SNAPSHOT = "method=EtcdSnapshot"


def let(asker: Asker, effect: str, *match: str, **how: object) -> None:
    """`stockman lab fault objects EFFECT --match ...`."""
    desired = Wanted(point="objects", effect=effect, match=match, **how)  # type: ignore[arg-type]
    asker.world.faults.add(restored(Fault, wanted_fault(desired, asker.world.now)))


# -- the storage -------------------------------------------------------------------------------


def test_the_storage_is_down_when_a_snapshot_is_to_be_stored() -> None:
    asker = Asker()
    let(asker, "kill", times="always")
    told = asker.told(Ask("PUT", "/flock/snapshot", {}, {}, b"wool"))
    assert (isinstance(told.outcome, Cut), told.is_refused) == (True, True)
    asker.world.faults.remove(1)
    let(asker, "fail", "operation=put", status=503, times="always")
    assert code(asker.put("snapshot")).startswith("503")
    assert members(asker.said("GET", "/flock", {"list-type": "2"}), "Key") == []


def test_the_storage_dies_in_the_middle_of_an_upload_and_what_came_is_left() -> None:
    asker = Asker()
    let(asker, "cut", "operation=put-part", skip=1, times="always")
    upload = asker.begun("snapshot")
    asker.part("snapshot", upload, 1, b"part")
    second = {"partNumber": "2", "uploadId": upload}
    told = asker.told(Ask("PUT", "/flock/snapshot", second, {}, b"another part"))
    assert isinstance(told.outcome, Cut)
    assert members(asker.said("GET", "/flock", {"uploads": ""}), "UploadId") == [upload]
    assert members(asker.said("GET", "/flock", {"list-type": "2"}), "Key") == []


@pytest.mark.parametrize(("how", "size"), [("", 4), ("truncated", 2)])
def test_the_storage_keeps_other_bytes_than_it_says(how: str, size: int) -> None:
    asker = Asker()
    let(asker, "corrupt", "operation=put", message=how)
    answer = asker.put("snapshot")
    right = hashlib.md5(b"wool", usedforsecurity=False).hexdigest()
    assert answer.headers["ETag"] == f'"{right}"'
    result = asker.said("GET", "/flock/snapshot")
    assert isinstance(result, Response)
    assert (len(result.body), result.body == b"wool") == (size, False)


# -- snapshots ---------------------------------------------------------------------------------


def taken(lab: Troubled) -> bytes:
    pieces = Asking(lab.world, lab.machine).stream("EtcdSnapshot")
    return b"".join(piece.bytes for piece in pieces)


def is_whole(content: bytes) -> tuple[bool, bool]:
    """Whether a snapshot is as long as one with a check sum, and whether that is right."""
    return len(content) % 512 == 32, hashlib.sha256(content[:-32]).digest() == content[-32:]


def test_a_snapshot_arrives_with_changed_bytes() -> None:
    lab = Troubled(staged())
    lab.let("talos-call", "corrupt", SNAPSHOT)
    assert is_whole(taken(lab)) == (True, False)
    assert is_whole(taken(lab)) == (True, True)


def test_a_snapshot_arrives_without_its_end() -> None:
    lab = Troubled(staged())
    lab.let("talos-call", "corrupt", SNAPSHOT, message="truncated")
    assert is_whole(taken(lab)) == (False, False)
    assert is_whole(taken(lab)) == (True, True)
