"""What a running machine says of a configuration."""

from __future__ import annotations

import pytest
from stockman_lab.talos.config.effective import effective
from stockman_lab.talos.config.judging import Verdict
from stockman_lab.talos.config.runtime_judging import RuntimeFacts, runtime_judged, unsupported

from lab.tests.talos.config.configurations import CONTRACTS, nodes
from tests.talos.machine.clusters import TALOS

DISK = {"dev_path": "/dev/sda", "size": 100 << 30, "serial": "", "model": "", "transport": "sata"}


@pytest.mark.parametrize("contract", CONTRACTS)
def test_configurations_of_presets_fit_their_machines(contract: str) -> None:
    facts = RuntimeFacts(version=TALOS[contract], needs_install=True, disks=(DISK,))
    verdicts = [
        runtime_judged(effective(text, contract), facts)
        for text in nodes("three-node", contract).values()
    ]

    assert verdicts == [Verdict()] * len(verdicts)


def test_a_disk_that_is_not_there_is_told_where_it_is_needed() -> None:
    config = effective(b"machine: {type: worker, install: {disk: /dev/vda}}", "1.13")
    new = runtime_judged(config, RuntimeFacts(version="1.13.9", needs_install=True, disks=(DISK,)))
    old = runtime_judged(config, RuntimeFacts(version="1.13.9", disks=(DISK,)))

    assert new.message == (
        "1 error occurred:\n\t* v1alpha1.Config: 1 error occurred:\n\t* no disks matched the "
        'expression: disk.dev_path == "/dev/vda"\n\n\n\n'
    )
    assert old.accepted


@pytest.mark.parametrize(
    ("tag", "talos", "how"),
    [
        ("v1.36.3", "1.13.9", ""),
        ("v1.37.0", "1.13.9", "version of Kubernetes 1.37.0 is too new to be used with Talos "),
        ("v1.28.4", "1.11.5", "version of Kubernetes 1.28.4 is too old to be used with Talos "),
        ("v1.29.0@sha256:0", "1.11.5", ""),
        ("latest", "1.12.1", "failed to parse Kubernetes version from image reference "),
    ],
)
def test_versions_of_kubernetes_go_with_versions_of_talos(tag: str, talos: str, how: str) -> None:
    said = unsupported(f"ghcr.io/siderolabs/kubelet:{tag}", talos)

    assert said.startswith(how)
    assert bool(said) is bool(how)


def test_images_are_looked_at_until_1_13() -> None:
    text = b"machine: {type: controlplane, kubelet: {image: 'a/kubelet:v1.20.1'}}"
    old = runtime_judged(effective(text, "1.11"), RuntimeFacts(version="1.11.5"))
    new = runtime_judged(effective(text, "1.14"), RuntimeFacts(version="1.14.1"))

    assert old.message == (
        "1 error occurred:\n\t* kubelet image is not valid: version of Kubernetes 1.20.1 is too "
        "old to be used with Talos 1.11.5\n\n"
    )
    assert new.accepted


def test_a_volume_with_its_own_partition_keeps_its_document() -> None:
    facts = RuntimeFacts(version="1.14.1", partitions=frozenset({"ETCD", "EPHEMERAL"}))
    bare = runtime_judged(effective(b"machine: {type: worker}", "1.14"), facts)
    kept = runtime_judged(effective(b"kind: VolumeConfig\nname: ETCD\n", "1.14"), facts)

    assert 'the "ETCD" system volume is backed by a dedicated partition' in bare.message
    assert kept.accepted


def test_kernel_arguments_and_extensions_are_warned_of() -> None:
    text = (
        b"machine: {install: {disk: /dev/sda, extraKernelArgs: [quiet], extensions: [{image: a}]}}"
    )
    facts = RuntimeFacts(version="1.13.9", boots_with_stub=True)

    assert [
        warning.split(" ")[0] for warning in runtime_judged(effective(text, "1.13"), facts).warnings
    ] == [
        "extra",
        ".machine.install.extensions",
    ]
