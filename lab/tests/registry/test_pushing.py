"""Pushing to the registry."""

from __future__ import annotations

import json

from stockman_lab.images.container import MANIFEST, descriptor, digest_of

from lab.tests.registry.asking import AGENT_ID, Store, code

BLOB = b"content of a chart"
HELM = "application/vnd.cncf.helm.config.v1+json"


def push_blob(store: Store, blob: bytes = BLOB) -> None:
    begun = store.ask("charts/a/blobs/uploads/", "POST")
    assert begun.status == 202
    location = begun.headers["Location"].removeprefix("/v2/")
    for at in range(0, len(blob), 7):
        assert store.ask(location, "PATCH", blob[at : at + 7]).status == 202
    ended = store.ask(f"{location}?digest={digest_of(blob)}", "PUT")
    assert ended.status == 201
    assert ended.headers["Location"] == f"/v2/charts/a/blobs/{digest_of(blob)}"


def manifest(**more: object) -> bytes:
    by_name = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": descriptor(HELM, BLOB),
        "layers": [descriptor("application/octet-stream", BLOB)],
        **more,
    }
    return json.dumps(by_name).encode()


def test_a_blob_in_pieces_is_the_blob() -> None:
    store = Store()

    push_blob(store)

    assert store.ask(f"charts/a/blobs/{digest_of(BLOB)}").body == BLOB
    assert store.state.uploads == {}


def test_a_blob_that_is_another_one_is_refused() -> None:
    store = Store()
    location = store.ask("charts/a/blobs/uploads/", "POST").headers["Location"].removeprefix("/v2/")

    result = store.ask(f"{location}?digest={digest_of(b'other')}", "PUT", BLOB)

    assert code(result) == (400, "DIGEST_INVALID")
    assert store.state.blobs == {}


def test_an_upload_that_nobody_began_is_unknown() -> None:
    result = Store().ask("charts/a/blobs/uploads/nobody", "PATCH", BLOB)

    assert code(result) == (404, "BLOB_UPLOAD_UNKNOWN")


def test_a_blob_that_is_there_need_not_be_sent_again() -> None:
    store = Store()
    push_blob(store)

    there = store.ask(f"charts/b/blobs/uploads/?mount={digest_of(BLOB)}&from=charts/a", "POST")
    other = store.ask(f"charts/b/blobs/uploads/?mount={digest_of(b'x')}&from=charts/a", "POST")

    assert (there.status, other.status) == (201, 202)


def test_a_manifest_is_found_by_tag_and_by_digest() -> None:
    store = Store()
    push_blob(store)

    put = store.ask("charts/a/manifests/1.0.0", "PUT", manifest(), MANIFEST)

    digest = digest_of(manifest())
    assert (put.status, put.headers["Docker-Content-Digest"]) == (201, digest)
    assert store.ask("charts/a/manifests/1.0.0").body == manifest()
    assert store.ask(f"charts/a/manifests/{digest}").headers["Content-Type"] == MANIFEST
    assert json.loads(store.ask("charts/a/tags/list").body)["tags"] == ["1.0.0"]


def test_a_manifest_without_its_blobs_is_refused() -> None:
    result = Store().ask("charts/a/manifests/1.0.0", "PUT", manifest(), MANIFEST)

    assert code(result) == (404, "MANIFEST_BLOB_UNKNOWN")


def test_what_is_no_manifest_is_refused() -> None:
    store = Store()
    push_blob(store)

    for wrong in (b"{", b"[]", b"{}"):
        result = store.ask("charts/a/manifests/1.0.0", "PUT", wrong, MANIFEST)
        assert code(result) == (400, "MANIFEST_INVALID")
    text = f"charts/a/manifests/{digest_of(b'x')}"
    assert code(store.ask(text, "PUT", manifest(), MANIFEST)) == (400, "DIGEST_INVALID")


def test_a_manifest_about_another_one_refers_to_it() -> None:
    store = Store()
    push_blob(store)
    store.ask("charts/a/manifests/1.0.0", "PUT", manifest(), MANIFEST)
    subject = descriptor(MANIFEST, manifest())

    put = store.ask("charts/a/manifests/sig", "PUT", manifest(subject=subject), MANIFEST)
    data = json.loads(store.ask(f"charts/a/referrers/{subject['digest']}").body)

    assert put.headers["OCI-Subject"] == subject["digest"]
    assert [manifest["artifactType"] for manifest in data["manifests"]] == [HELM]
    none = json.loads(store.ask(f"charts/b/referrers/{subject['digest']}").body)
    assert none["manifests"] == []


def test_a_tag_is_moved_and_deleted() -> None:
    store = Store()
    push_blob(store)
    other = manifest(annotations={"a": "b"})
    for content in (manifest(), other):
        store.ask("charts/a/manifests/1.0.0", "PUT", content, MANIFEST)

    assert store.ask("charts/a/manifests/1.0.0").body == other
    assert store.ask("charts/a/manifests/1.0.0", "DELETE").status == 202
    assert code(store.ask("charts/a/manifests/1.0.0")) == (404, "MANIFEST_UNKNOWN")
    assert store.ask(f"charts/a/manifests/{digest_of(other)}", "DELETE").status == 202
    assert code(store.ask("charts/a/manifests/1.0.0", "DELETE")) == (404, "MANIFEST_UNKNOWN")


def test_nobody_pushes_installers() -> None:
    store = Store()

    result = store.ask(f"metal-installer/{AGENT_ID}/blobs/uploads/", "POST")

    assert code(result) == (405, "UNSUPPORTED")
    assert code(store.ask("charts/a/tags/list", "POST")) == (405, "UNSUPPORTED")
