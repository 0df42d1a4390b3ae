"""Uploads and downloads into storages."""

from __future__ import annotations

import hashlib
import io
import tarfile
from datetime import UTC, datetime

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.images.facts import ImageFacts
from stockman_lab.images.image import Form
from stockman_lab.images.making import disk_image, iso_image
from stockman_lab.images.qcow2 import qcow2_file
from stockman_lab.pve import space
from stockman_lab.pve.api.call import Upload
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient

from lab.tests.outside import Shelf, world_with
from lab.tests.pve.endpoints.people import somebody
from lab.tests.returns import promised
from lab.tests.worlds import NAME, door, small_world

GIB = 1 << 30
TALOS = ImageFacts(platform="nocloud", version="v1.13.9", virtual_size=4 * GIB)
QCOW2 = disk_image(TALOS, Form.QCOW2)
ISO = iso_image(TALOS, datetime(2026, 1, 1, tzinfo=UTC))
URL = "http://127.0.0.1:8080/nocloud-amd64.qcow2"


def uploaded(
    api: MemoryClient, filename: str, data: bytes, storage: str = "local", **given: object
) -> object:
    params: dict[str, object] = {"content": "import", "filename": filename}
    params |= {name.replace("__", "-"): value for name, value in given.items()}
    path = f"/nodes/{params.pop('node', 'pve1')}/storage/{storage}/upload"
    reply = api.reply("POST", path, params, Upload(filename, data))
    if reply.status != 200:
        errors = (reply.body or {}).get("errors")
        raise ApiError(reply.status, reply.reason, errors if isinstance(errors, dict) else None)
    return (reply.body or {})["data"]


def downloaded(api: MemoryClient, **given: object) -> object:
    params: dict[str, object] = {"content": "import", "url": URL, "filename": "talos.qcow2"}
    return api.post("/nodes/pve1/storage/local/download-url", **(params | given))


def shelf_door(contents: dict[str, bytes] | None = None) -> tuple[MemoryClient, Shelf]:
    shelf = Shelf({URL: QCOW2} if contents is None else contents)
    return MemoryClient(world_with(shelf), NAME), shelf


def listed(api: MemoryClient, storage: str = "local") -> list[tuple[str, int]]:
    rows = api.get(f"/nodes/pve1/storage/{storage}/content")
    return [(row["volid"], row["size"]) for row in rows]


def test_an_uploaded_image_is_listed_by_its_file_and_opened_by_its_disk() -> None:
    api = door()

    upid = uploaded(api, "talos.qcow2", QCOW2)

    assert ":imgcopy::root@pam:" in str(upid)
    assert api.done(upid) == "OK"
    assert listed(api) == [("local:import/talos.qcow2", len(QCOW2))]
    info = api.get("/nodes/pve1/storage/local/content/import/talos.qcow2")
    assert info == {
        "path": "/var/lib/vz/import/talos.qcow2",
        "size": 4 * GIB,
        "used": len(QCOW2),
        "format": "qcow2",
    }
    volume = space.find(api.cluster, "pve1", "local:import/talos.qcow2")
    assert volume is not None
    assert api.world.around.blobs.get(volume.blob) == QCOW2


def test_a_file_is_listed_by_its_bytes_and_opened_as_whole_sectors() -> None:
    api = door()

    api.done(uploaded(api, "a.iso", b"x" * 1000, content="iso"))

    assert listed(api) == [("local:iso/a.iso", 1000)]
    info = api.get("/nodes/pve1/storage/local/content/iso/a.iso")
    assert (info["size"], info["used"], info["format"]) == (1024, 1000, "raw")


def test_the_host_that_got_an_upload_runs_its_task() -> None:
    api = door()

    upid = uploaded(api, "a.iso", ISO, content="iso", node="pve2")

    assert str(upid).startswith("UPID:pve1:")
    assert api.done(upid) == "OK"
    assert space.find(api.cluster, "pve2", "local:iso/a.iso") is not None
    assert space.find(api.cluster, "pve1", "local:iso/a.iso") is None


def test_an_upload_for_a_host_without_power_is_refused() -> None:
    api = door()
    api.cluster.state.hosts["pve2"].has_power = False

    with pytest.raises(ApiError, match=r"^can't activate storage 'local' on node 'pve2': command"):
        uploaded(api, "a.iso", ISO, content="iso", node="pve2")


def test_names_are_made_usual() -> None:
    api = door()

    api.done(uploaded(api, "C:\\files\\My ISÖ.iso", ISO, content="iso"))

    assert listed(api) == [("local:iso/My_IS_.iso", len(ISO))]


def test_an_upload_replaces_a_file_of_the_same_name_and_forgets_its_bytes() -> None:
    api = door()
    api.done(uploaded(api, "a.iso", b"first" * 100, content="iso"))

    api.done(uploaded(api, "a.iso", ISO, content="iso"))

    assert listed(api) == [("local:iso/a.iso", len(ISO))]
    assert api.world.around.blobs.size == len(ISO)


@pytest.mark.parametrize(
    ("content", "filename", "errors"),
    [
        ("iso", "a.qcow2", {"filename": "wrong file extension"}),
        ("vztmpl", "a.iso", {"filename": "wrong file extension"}),
        ("import", "a.iso", {"filename": "invalid filename or wrong extension"}),
        (
            "snippets",
            "a.yaml",
            {
                "content": "value 'snippets' does not have a value in the enumeration"
                " 'iso, vztmpl, import'"
            },
        ),
    ],
)
def test_what_may_not_be_uploaded_may_not_be_downloaded_either(
    content: str, filename: str, errors: dict[str, str]
) -> None:
    with pytest.raises(ApiError) as error:
        uploaded(door(), filename, ISO, content=content)
    assert (error.value.status, error.value.errors) == (400, errors)

    with pytest.raises(ApiError) as error:
        downloaded(shelf_door()[0], content=content, filename=filename)
    assert (error.value.status, error.value.errors) == (400, errors)


@pytest.mark.parametrize(
    ("storage", "content", "text"),
    [
        ("files", "vztmpl", "storage 'files' does not support 'vztmpl' content"),
        ("ceph", "iso", "can't upload to storage type 'rbd'"),
        ("nothere", "iso", "storage 'nothere' does not exist"),
    ],
)
def test_a_storage_that_takes_no_such_uploads_says_so(
    storage: str, content: str, text: str
) -> None:
    name = "a.tar.zst" if content == "vztmpl" else "a.iso"

    with pytest.raises(ApiError) as error:
        uploaded(door(), name, b"x", storage, content=content)

    assert (error.value.status, error.value.message) == (500, text)


@pytest.mark.parametrize(
    ("storage", "content", "text"),
    [
        ("files", "vztmpl", "storage 'files' is not configured for content-type 'vztmpl'"),
        ("ceph", "iso", "can't upload to storage type 'rbd', not a file based storage!"),
    ],
)
def test_a_storage_that_takes_no_such_downloads_says_so(
    storage: str, content: str, text: str
) -> None:
    name = "a.tar.zst" if content == "vztmpl" else "a.iso"

    with pytest.raises(ApiError) as error:
        door().post(
            f"/nodes/pve1/storage/{storage}/download-url", content=content, filename=name, url=URL
        )

    assert (error.value.status, error.value.message) == (500, text)


def test_an_upload_without_a_file_is_refused() -> None:
    with pytest.raises(ApiError, match=r"^missing temporary file name$"):
        door().post("/nodes/pve1/storage/local/upload", content="iso", filename="a.iso")


def test_the_checksum_of_an_upload_is_looked_at() -> None:
    api = door()
    right = hashlib.sha256(ISO).hexdigest()

    good = uploaded(
        api, "a.iso", ISO, content="iso", checksum=right.upper(), checksum__algorithm="sha256"
    )
    bad = uploaded(api, "b.iso", ISO, content="iso", checksum="00", checksum__algorithm="sha256")

    assert api.done(good) == "OK"
    assert api.done(bad) == f"checksum mismatch: got '{right}' != expect '00'"
    assert listed(api) == [("local:iso/a.iso", len(ISO))]


def test_images_that_refer_to_others_or_are_none_are_refused() -> None:
    api = door()

    upid = uploaded(api, "a.qcow2", b"no image")

    assert api.done(upid) == "failed to query file information with qemu-img"
    assert listed(api) == []
    assert api.world.around.blobs.size == 0


def test_an_appliance_has_to_hold_a_description() -> None:
    api = door()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as made:
        made.addfile(tarfile.TarInfo("machine.ovf"))

    assert api.done(uploaded(api, "a.ova", archive.getvalue())) == "OK"
    assert "failed: exit code 2" in api.done(uploaded(api, "b.ova", b"x" * 2000))


def test_a_full_storage_takes_no_upload() -> None:
    api = door()
    api.cluster.state.hosts["pve1"].pools["fs:/"].other = 100 * GIB - 10

    upid = uploaded(api, "a.iso", ISO, content="iso")

    assert api.done(upid) == (
        "import failed: cp: error writing '/var/lib/vz/template/iso/a.iso': No space left on device"
    )


def test_a_downloaded_image_is_there_when_its_task_has_ended() -> None:
    api, _ = shelf_door()

    upid = downloaded(api)

    assert ":download:talos.qcow2:root@pam:" in str(upid)
    assert listed(api) == []
    assert api.done(upid) == "OK"
    assert listed(api) == [("local:import/talos.qcow2", len(QCOW2))]
    log = api.cluster.state.tasks[str(upid)].log
    assert log[0] == f"downloading {URL} to /var/lib/vz/import/talos.qcow2"
    assert log[-2:] == [
        f"download of '{URL}' to '/var/lib/vz/import/talos.qcow2' finished",
        "TASK OK",
    ]


def test_a_download_goes_on_when_its_content_comes() -> None:
    api, shelf = shelf_door()
    shelf.waits = True
    upid = str(downloaded(api))

    api.world.settle()

    assert api.cluster.state.tasks[upid].is_running
    shelf.deliver()
    assert api.done(upid) == "OK"


def test_a_stopped_download_leaves_nothing() -> None:
    api, shelf = shelf_door()
    shelf.waits = True
    upid = str(downloaded(api))

    api.delete(f"/nodes/pve1/tasks/{upid}")
    shelf.deliver()
    api.world.settle()

    assert api.cluster.state.tasks[upid].exit_status == "unexpected status"
    assert listed(api) == []


def test_a_url_that_leads_nowhere_fails_the_task() -> None:
    api, _ = shelf_door({})

    assert api.done(downloaded(api)) == "download failed: exit code 8"


def test_an_existing_file_is_never_replaced() -> None:
    api, shelf = shelf_door()
    api.done(downloaded(api))

    again = api.done(downloaded(api))

    path = "/var/lib/vz/import/talos.qcow2"
    assert again == f"refusing to override existing file '{path}'"
    assert shelf.asked == [URL]


def test_an_existing_file_with_the_right_checksum_is_enough() -> None:
    api, shelf = shelf_door()
    api.done(downloaded(api))
    right = hashlib.sha512(QCOW2).hexdigest()

    good = downloaded(api, checksum=right, checksum__algorithm="sha512")
    bad = downloaded(api, checksum="00", checksum__algorithm="sha512")

    assert api.done(good) == "OK"
    assert api.done(bad) == f"checksum mismatch: got '{right}' != expect '00', aborting"
    assert shelf.asked == [URL]


def test_the_checksum_of_a_download_is_looked_at() -> None:
    api, _ = shelf_door()
    right = hashlib.sha256(QCOW2).hexdigest()

    upid = downloaded(api, checksum="00", checksum__algorithm="sha256")

    assert api.done(upid) == f"checksum mismatch: got '{right}' != expect '00'"
    assert listed(api) == []


def test_a_checksum_needs_its_algorithm() -> None:
    with pytest.raises(ApiError) as error:
        downloaded(door(), checksum="00")

    assert set(error.value.errors) == {"checksum-algorithm"}


def test_downloads_are_not_decompressed() -> None:
    api, _ = shelf_door()

    done = api.done(downloaded(api, content="iso", filename="a.iso", compression="gz"))

    assert done == "the lab does not decompress downloads"


def test_a_download_with_a_backing_file_is_refused() -> None:
    refers = bytearray(qcow2_file(GIB, {}))
    refers[8:16] = (1024).to_bytes(8, "big")
    refers[16:20] = (5).to_bytes(4, "big")
    refers[1024:1029] = b"other"
    api, _ = shelf_door({URL: bytes(refers)})

    status = api.done(downloaded(api))

    assert status.startswith("failed to verify file: backing file not allowed for untrusted image")


@pytest.mark.parametrize(
    ("effect", "message", "status"),
    [
        (Effect.FAIL, "", "download failed: exit code 4"),
        (Effect.FAIL, "download failed: gone", "download failed: gone"),
        (
            Effect.CORRUPT,
            "truncated",
            "failed to verify file: failed to query file information with qemu-img",
        ),
    ],
)
def test_faults_break_downloads(effect: Effect, message: str, status: str) -> None:
    api, _ = shelf_door()
    api.world.faults.add(Fault(Point.DOWNLOAD, effect, {"filename": "talos*"}, message))

    assert api.done(downloaded(api)) == status
    assert listed(api) == []
    assert api.done(downloaded(api)) == "OK"


def test_a_damaged_download_is_only_found_by_its_checksum() -> None:
    api, _ = shelf_door({URL: bytes(100_000)})
    api.world.faults.add(Fault(Point.DOWNLOAD, Effect.CORRUPT, times=2))
    right = hashlib.sha256(bytes(100_000)).hexdigest()

    careful = downloaded(api, filename="a.raw", checksum=right, checksum__algorithm="sha256")
    assert api.done(careful).startswith("checksum mismatch: got '")
    assert api.done(downloaded(api, filename="a.raw")) == "OK"


def test_a_cache_may_deliver_what_was_there_before() -> None:
    api, shelf = shelf_door()
    api.done(downloaded(api))
    newer = disk_image(ImageFacts(platform="nocloud", version="v2", virtual_size=GIB), Form.QCOW2)
    shelf.contents[URL] = newer
    api.world.faults.add(Fault(Point.DOWNLOAD, Effect.LIE))

    api.done(downloaded(api, filename="cached.qcow2"))
    api.done(downloaded(api, filename="fresh.qcow2"))

    cached = space.find(api.cluster, "pve1", "local:import/cached.qcow2")
    fresh = space.find(api.cluster, "pve1", "local:import/fresh.qcow2")
    assert cached is not None
    assert fresh is not None
    assert (cached.size, fresh.size) == (4 * GIB, GIB)


def test_a_slow_download_takes_its_time() -> None:
    api, _ = shelf_door()
    api.world.faults.add(Fault(Point.DOWNLOAD, Effect.DELAY, seconds=600))
    before = api.world.now

    assert api.done(downloaded(api)) == "OK"
    assert api.world.now - before > 600


def test_a_download_may_claim_what_it_did_not_do_and_deny_what_it_did() -> None:
    api, _ = shelf_door()
    api.world.faults.add(Fault(Point.DOWNLOAD, Effect.CLAIM, {"filename": "a.qcow2"}))
    api.world.faults.add(Fault(Point.DOWNLOAD, Effect.DO_THEN_FAIL, {"filename": "b.qcow2"}))

    claimed = api.done(downloaded(api, filename="a.qcow2"))
    denied = api.done(downloaded(api, filename="b.qcow2"))

    assert (claimed, denied) == ("OK", "download failed: exit code 4")
    assert [name for name, _ in listed(api)] == ["local:import/b.qcow2"]


def test_a_download_may_hang() -> None:
    api, _ = shelf_door()
    api.world.faults.add(Fault(Point.DOWNLOAD, Effect.HANG))

    assert api.done(downloaded(api)) == ""


def test_metadata_of_a_url_comes_from_outside() -> None:
    api, _ = shelf_door()

    nodes_pve1_query_url_metadata = api.get("/nodes/pve1/query-url-metadata", url=URL)

    assert nodes_pve1_query_url_metadata == {"filename": "nocloud-amd64.qcow2", "size": len(QCOW2)}
    assert (
        promised(api, "GET", "/nodes/{node}/query-url-metadata", nodes_pve1_query_url_metadata)
        == []
    )
    with pytest.raises(ApiError) as error:
        api.get("/nodes/pve1/query-url-metadata", url="http://127.0.0.1/none")
    assert error.value.message == "invalid server response: '404 Not Found'"


def test_bringing_files_needs_rights_on_storage_and_network() -> None:
    api, _ = shelf_door()
    user = somebody(api, "/storage/local", "Datastore.AllocateTemplate")

    assert ":imgcopy:" in str(uploaded(user, "a.iso", ISO, content="iso"))
    with pytest.raises(ApiError, match=r"^Permission check failed"):
        downloaded(user)
    somebody(api, "/nodes/pve1", "Sys.AccessNetwork")
    assert ":download:" in str(downloaded(user))


@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_replies_are_what_the_schema_promises(profile: str) -> None:
    api = door(small_world(profile))
    template = "/nodes/{node}/storage/{storage}"

    upid = uploaded(api, "a.iso", ISO, content="iso")
    api.done(upid)
    other = downloaded(api)
    rows = api.get("/nodes/pve1/storage/local/content")
    info = api.get("/nodes/pve1/storage/local/content/iso/a.iso")

    assert promised(api, "POST", f"{template}/upload", upid) == []
    assert promised(api, "POST", f"{template}/download-url", other) == []
    assert promised(api, "GET", f"{template}/content", rows) == []
    assert promised(api, "GET", f"{template}/content/{{volume}}", info) == []
