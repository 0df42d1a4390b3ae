"""The registry: what it holds, and what it says to others."""

from __future__ import annotations

import json

import pytest
from stockman_lab.core.saved import plain, restored
from stockman_lab.images.container import INDEX, MANIFEST, digest_of, layer_facts
from stockman_lab.registry.registry import Registry
from stockman_lab.registry.state import RegistryState

from lab.tests.registry.asking import AGENT_ID, NOW, Store, code

REPOSITORY = f"nocloud-installer/{AGENT_ID}"


def test_an_index_leads_to_manifests_and_those_to_contents() -> None:
    store = Store()

    index = store.ask(f"{REPOSITORY}/manifests/v1.13.9")
    rows = json.loads(index.body)["manifests"]

    assert index.headers["Content-Type"] == INDEX
    assert index.headers["Docker-Content-Digest"] == digest_of(index.body)
    assert [row["platform"]["architecture"] for row in rows] == ["amd64", "arm64"]
    for row in rows:
        manifest = store.ask(f"{REPOSITORY}/manifests/{row['digest']}")
        data = json.loads(manifest.body)
        assert (manifest.headers["Content-Type"], len(manifest.body)) == (MANIFEST, row["size"])
        config = json.loads(store.ask(f"{REPOSITORY}/blobs/{data['config']['digest']}").body)
        layer = store.ask(f"{REPOSITORY}/blobs/{data['layers'][0]['digest']}").body
        facts = layer_facts(layer)
        assert facts is not None
        assert config["architecture"] == facts.architecture == row["platform"]["architecture"]
        assert (facts.platform, facts.schematic) == ("nocloud", AGENT_ID)


def test_a_digest_is_found_by_a_registry_that_was_just_started() -> None:
    store = Store()
    digest = store.ask(f"{REPOSITORY}/manifests/v1.13.9", "HEAD").headers["Docker-Content-Digest"]

    store.registry = Registry(store.state, store.factory, store.faults, lambda: NOW)

    assert digest_of(store.ask(f"{REPOSITORY}/manifests/{digest}").body) == digest


def test_latest_is_the_newest_release() -> None:
    store = Store()

    latest = store.ask(f"{REPOSITORY}/manifests/latest").body

    assert latest == store.ask(f"{REPOSITORY}/manifests/v1.14.1").body


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        (f"{REPOSITORY}/manifests/v1.99.0", 404, "MANIFEST_UNKNOWN"),
        (f"{REPOSITORY}/manifests/newest", 404, "MANIFEST_UNKNOWN"),
        (f"{REPOSITORY}/tags/list", 404, "NAME_UNKNOWN"),
        (f"metal-installer/{'0' * 64}/manifests/v1.13.9", 404, "MANIFEST_UNKNOWN"),
        ("siderolabs/installer/manifests/v1.14.0", 404, "MANIFEST_UNKNOWN"),
        ("siderolabs/kubelet/manifests/now", 404, "MANIFEST_UNKNOWN"),
        ("nobody/nothing/manifests/v1", 404, "NAME_UNKNOWN"),
        ("nobody/nothing/tags/list", 404, "NAME_UNKNOWN"),
        ("Nobody/manifests/v1", 400, "NAME_INVALID"),
        (f"pause/blobs/sha256:{'0' * 64}", 404, "BLOB_UNKNOWN"),
        ("pause/blobs/sha256:0", 400, "DIGEST_INVALID"),
        (f"pause/manifests/sha256:{'0' * 64}", 404, "MANIFEST_UNKNOWN"),
        ("pause", 404, "UNSUPPORTED"),
        ("siderolabs/talos/tags/list?n=many", 400, "PAGINATION_NUMBER_INVALID"),
    ],
)
def test_what_is_not_there_has_the_code_of_the_specification(
    path: str, status: int, text: str
) -> None:
    assert code(Store().ask(path)) == (status, text)


def test_the_words_of_the_factory_are_passed_on() -> None:
    store = Store()
    store.factory.withdrawn["v1.13.9"] = ["siderolabs/qemu-guest-agent"]

    result = store.ask(f"{REPOSITORY}/manifests/v1.13.9")

    assert result.status == 400
    assert b"is not available for Talos version v1.13.9" in result.body


def test_tags_come_in_pages() -> None:
    store = Store()
    texts: list[str] = []
    path = "siderolabs/installer/tags/list?n=7"
    pages = 0
    while path:
        page = store.ask(path)
        texts += json.loads(page.body)["tags"]
        link = page.headers.get("Link", "")
        path = link.partition(">")[0].removeprefix("</v2/")
        pages += 1

    assert texts == sorted(version for version in store.factory.versions if version < "v1.14")
    assert pages == -(-len(texts) // 7)


def test_versions_of_kubernetes_are_listed() -> None:
    tags = json.loads(Store().ask("kube-apiserver/tags/list").body)["tags"]

    assert {"v1.34.1", "v1.36.3"} < set(tags)


def test_public_images_can_be_missing() -> None:
    store = Store()
    store.state.missing.add("siderolabs/kubelet:v1.36.3")

    assert store.ask("siderolabs/kubelet/manifests/v1.36.3").status == 404
    assert store.ask("siderolabs/kubelet/manifests/v1.36.2").status == 200


def test_the_base_answers() -> None:
    store = Store()

    assert (store.ask("").status, store.ask("").body) == (200, b"{}")


def test_what_was_pushed_is_there_after_the_world_was_saved() -> None:
    store = Store()
    blob = b"a chart"
    store.ask(f"charts/a/blobs/uploads/?digest={digest_of(blob)}", "POST", blob)

    state = restored(RegistryState, json.loads(json.dumps(plain(store.state))))

    assert state == store.state
    assert state.blobs == {digest_of(blob): blob}
