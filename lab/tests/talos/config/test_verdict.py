"""Whether Talos accepts a configuration, and why not."""

from __future__ import annotations

import pytest
from stockman_lab.talos.config.reading import effective
from stockman_lab.talos.config.verdict import (
    MachineFacts,
    Verdict,
    machine_verdict,
    static_verdict,
)

from lab.tests.talos.config.configurations import CONTRACTS, nodes
from stockman.talos.patches.schema import MINORS
from tests.talos.validation.bad import bad
from tests.talos.validation.judge import ours
from tests.talos.validation.mutations import cases

WORKER = "version: v1alpha1\nmachine:\n  type: worker\n"
DRAWN = 25
DISK = {"dev_path": "/dev/sda", "size": 100 << 30, "serial": "", "model": "", "transport": "sata"}


@pytest.mark.parametrize("minor", MINORS)
def test_configurations_of_presets_are_accepted(minor: str) -> None:
    styles = [contract for contract in CONTRACTS if contract <= minor]
    texts = [text for style in styles for text in nodes("three-node", style).values()]

    assert [static_verdict(text, minor, "metal") for text in texts] == [Verdict()] * len(texts)


@pytest.mark.parametrize("minor", MINORS)
def test_bad_configurations_are_rejected_with_a_reason(minor: str) -> None:
    for bad_case in bad():
        if minor in bad_case.refused:
            case = bad_case.case
            verdict = static_verdict(case.text.encode(), minor, "metal", strict=case.strict)

            assert not verdict.accepted, bad_case.name
            assert verdict.message, bad_case.name


@pytest.mark.parametrize("minor", MINORS)
def test_changed_configurations_get_the_verdict_of_validation(minor: str) -> None:
    for case in cases(minor, DRAWN, "lab"):
        verdict = static_verdict(case.text.encode(), minor, case.mode.value, strict=case.strict)
        expected = ours(case, minor)

        assert verdict.accepted is expected.accepted
        assert len(verdict.warnings) == (0 if verdict.unreadable else expected.warnings)
        assert effective(case.text.encode(), minor).machine_type is not None


@pytest.mark.parametrize(
    ("text", "minor"),
    [
        (b"", "1.13"),
        (b"# nothing\n", "1.14"),
        (b"- a\n", "1.12"),
        (b"apiVersion: v1alpha1\nkind: KubePrismConfig\n", "1.13"),
        (f"{WORKER}---\n{WORKER}".encode(), "1.13"),
        (f"{WORKER}  certSANs: one\n".encode(), "1.12"),
        (b"machine:\n  type: worker\n  type: worker\n", "1.11"),
        (b"a: 1\nb: [1, 2\nc: 3\n", "1.14"),
        (b"name: x\n", "1.11"),
        (b"\xff\xfe\xfd", "1.13"),
    ],
)
def test_texts_that_cannot_be_loaded(text: bytes, minor: str) -> None:
    verdict = static_verdict(text, minor)

    assert verdict.unreadable
    assert verdict.message == verdict.unreadable


def test_errors_are_joined() -> None:
    verdict = static_verdict(b"machine:\n  type: shepherd\npersist: false\ncluster: {}\n", "1.11")

    assert len(verdict.errors) > 1
    assert "shepherd" in verdict.invalid
    assert verdict.invalid.count("\n\t* ") == len(verdict.errors)


def test_an_installation_is_needed_on_metal_only() -> None:
    bare = next(bad_case.case.text for bad_case in bad() if bad_case.name == "no install section")

    assert not static_verdict(bare.encode(), "1.13", "metal").accepted
    assert static_verdict(bare.encode(), "1.13", "cloud").accepted
    assert static_verdict(bare.encode(), "1.14", "metal").accepted


def test_the_install_disk_has_to_exist_where_it_is_needed() -> None:
    config = effective(b"machine: {type: worker, install: {disk: /dev/vda}}", "1.13")
    new = MachineFacts(version="1.13.9", needs_install=True, disks=(DISK,))
    installed = MachineFacts(version="1.13.9", disks=(DISK,))

    assert machine_verdict(config, new).errors == (
        'no disks matched the expression: disk.dev_path == "/dev/vda"',
    )
    assert machine_verdict(config, installed).accepted


@pytest.mark.parametrize(
    ("tag", "talos", "reason"),
    [
        ("v1.36.3", "1.13.9", ""),
        ("v1.37.0", "1.13.9", "version of Kubernetes 1.37.0 is too new to be used with Talos "),
        ("v1.28.4", "1.11.5", "version of Kubernetes 1.28.4 is too old to be used with Talos "),
        ("v1.29.0@sha256:0", "1.11.5", ""),
        ("latest", "1.12.1", "failed to parse Kubernetes version from image reference "),
        ("v1.20.1", "1.14.1", ""),
    ],
)
def test_versions_of_kubernetes_are_checked_until_1_13(tag: str, talos: str, reason: str) -> None:
    minor = talos.rpartition(".")[0]
    config = effective(f"machine: {{type: worker, kubelet: {{image: 'a:{tag}'}}}}".encode(), minor)
    verdict = machine_verdict(config, MachineFacts(version=talos))

    assert verdict.accepted is not bool(reason)
    assert reason in verdict.message
