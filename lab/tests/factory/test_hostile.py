"""Whatever comes in, factory and registry answer, and never with a trace."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.doors.images_face import WorldImages
from stockman_lab.factory.state import EMPTY_ID
from stockman_lab.http.messages import Request, Response
from stockman_lab.world.world import World

WORDS = st.sampled_from(
    [
        *("schematics", "versions", "version", "image", "pxe", "talosctl", "extensions", "v2"),
        *("official", "overlays", "manifests", "blobs", "uploads", "tags", "list", "referrers"),
        *(EMPTY_ID, "v1.13.9", "1.13.9", "v1", "latest", "", "..", "%2F", "%", "%00", "[", "]"),
        *("nocloud-installer", "installer", "siderolabs", "kubelet", "nocloud-amd64.qcow2"),
        *("kernel-amd64", "?n=1", "?n=" + "9" * 5000, "?digest=sha256:0", "?mount=x", "#", "é"),
        f"sha256:{'0' * 64}",
    ]
)
TARGETS = st.lists(WORDS, max_size=7).map(lambda words: "/" + "/".join(words))
METHODS = st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
PIECES = st.sampled_from(
    [
        *("customization", "overlay", "options", "meta", "key", "value", "bootloader", "owner"),
        *(": ", "{", "}", "[", "]", "- ", "\n", "  ", "&a ", "*a", "'", '"', "|", "!!int ", "<<"),
        *("1", "1e400", "9" * 5000, "0x", "0o9", "-1", "true", "null", "~", "\t", "\x00", "\x85"),
    ]
)
BODIES = st.lists(PIECES, max_size=14).map(lambda pieces: "".join(pieces).encode()) | st.binary(
    max_size=40
)
IMAGES = WorldImages(World.new())


@given(TARGETS, METHODS, BODIES)
def test_every_request_has_an_answer(target: str, method: str, body: bytes) -> None:
    answer = IMAGES.answer(Request(method, target, {"host": "a"}, body, "127.0.0.1", False))

    assert isinstance(answer.outcome, Response)
    assert 200 <= answer.outcome.status < 600


@given(BODIES)
def test_every_body_is_a_schematic_or_refused(body: bytes) -> None:
    request = Request("POST", "/schematics", {"host": "a"}, body, "127.0.0.1", False)

    outcome = IMAGES.answer(request).outcome

    assert isinstance(outcome, Response)
    assert outcome.status in (201, 400, 500)
