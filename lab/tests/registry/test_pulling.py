"""Machines pull images."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect
from stockman_lab.registry.pulling import PulledImage, PullFailed, pull

from lab.tests.registry.asking import AGENT_ID, INSTALLER, Store

URL = f"https://factory.talos.dev/v2/nocloud-installer/{AGENT_ID}/manifests/v1.13.9"
UNRESOLVED = f'failed to resolve reference "{INSTALLER}"'


def test_an_installer_says_platform_schematic_and_version() -> None:
    result = Store().pulled()

    assert (result.platform, result.schematic, result.version) == ("nocloud", AGENT_ID, "v1.13.9")
    assert (result.architecture, result.secure_boot) == ("amd64", False)
    assert (result.name, result.more["kind"]) == (INSTALLER, "installer")
    assert result.size > 0


@pytest.mark.parametrize(
    ("name", "platform", "schematic"),
    [
        (f"factory.talos.dev/installer/{AGENT_ID}:v1.13.9", "metal", AGENT_ID),
        (f"10.42.0.9:5000/installer-secureboot/{AGENT_ID}:v1.13.9", "metal", AGENT_ID),
        ("ghcr.io/siderolabs/installer:v1.13.9", "metal", ""),
        ("ghcr.io/siderolabs/kubelet:v1.36.3", "", ""),
        ("registry.k8s.io/kube-apiserver:v1.36.3", "", ""),
    ],
)
def test_the_host_of_a_name_does_not_matter(name: str, platform: str, schematic: str) -> None:
    result = Store().pulled(name)

    assert (result.platform, result.schematic) == (platform, schematic)
    assert result.version == name.rpartition(":")[2]
    assert result.secure_boot is ("secureboot" in name)


def test_another_architecture_has_another_image() -> None:
    store = Store()

    result = pull(store.registry, INSTALLER, client="pi", architecture="arm64")

    assert isinstance(result, PulledImage)
    assert (result.architecture, result.digest) == ("arm64", store.pulled().digest)


def test_a_digest_pins_an_image() -> None:
    store = Store()
    first = store.pulled()

    again = store.pulled(f"{INSTALLER}@{first.digest}")

    assert (again.digest, again.version) == (first.digest, first.version)


@pytest.mark.parametrize(
    "name",
    [
        INSTALLER.replace("v1.13.9", "v1.99.0"),
        INSTALLER.replace(AGENT_ID, "0" * 64),
        "ghcr.io/siderolabs/installer:v1.14.1",
        "busybox",
    ],
)
def test_what_is_not_there_is_not_found(name: str) -> None:
    assert Store().failed(name) == f'failed to resolve reference "{name}": {name}: not found'


def test_a_name_that_is_none_cannot_be_parsed() -> None:
    text = 'failed to parse image reference "A B": invalid reference format'

    assert Store().failed("A B") == text


@pytest.mark.parametrize(
    ("effect", "status", "why"),
    [
        (
            Effect.FAIL,
            429,
            f"unexpected status from HEAD request to {URL}: 429 Too Many Requests",
        ),
        (Effect.FAIL, 520, f"unexpected status from HEAD request to {URL}: 520 status code 520"),
        (
            Effect.KILL,
            0,
            (
                f'failed to do request: Head "{URL}": dial tcp 127.0.0.1:443: connect: connection '
                "refused"
            ),
        ),
        (Effect.CUT, 0, f'failed to do request: Head "{URL}": EOF'),
        (
            Effect.HANG,
            0,
            f'failed to do request: Head "{URL}": net/http: timeout awaiting response headers',
        ),
    ],
)
def test_a_registry_that_does_not_answer_fails_a_pull(
    effect: Effect, status: int, why: str
) -> None:
    store = Store()
    store.let(effect, status=status)

    assert store.failed() == f"{UNRESOLVED}: {why}"
    assert store.pulled().version == "v1.13.9"


def test_a_slow_registry_takes_time() -> None:
    store = Store()
    store.let(Effect.DELAY, seconds=20, times=2)
    store.let(Effect.HANG, match={"client": "work-2"})

    assert store.pulled().seconds == 40
    hung = pull(store.registry, INSTALLER, client="work-2")
    assert isinstance(hung, PullFailed)
    assert hung.seconds == 30


def test_a_connection_that_breaks_in_the_middle_fails_a_pull() -> None:
    store = Store()
    store.let(Effect.CUT, match={"path": "*/blobs/*"})
    store.let(Effect.FAIL, match={"path": "*/blobs/*"}, status=500, skip=1)

    first, second = store.failed(), store.failed()

    assert first.startswith("failed to copy: httpReadSeeker: failed open: failed to do request: ")
    assert "unexpected status from GET request to " in second
