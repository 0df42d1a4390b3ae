"""Stories of one machine: services, files for clients, META, images, disks."""

from __future__ import annotations

import base64
from subprocess import run
from typing import Any

import yaml

from tests.real.talos.golden import agrees
from tests.real.talos.served import Lab, refused, succeeded, together

_IMAGE = "ghcr.io/siderolabs/installer:v1.13.9"
_UNKNOWN = "ghcr.io/siderolabs/nothing:v1"


def services_are_steered(lab: Lab, client: str) -> None:
    """The kubelet starts again by request; what cannot be stopped says so."""
    machine, ask = lab.machine(), lab.talosctl(client)
    every, one, stop, etcd = together(
        lambda: ask("services"),
        lambda: ask("service", "kubelet"),
        lambda: ask("service", "kubelet", "stop"),
        lambda: ask("service", "etcd", "restart"),
    )
    agrees(lab, "services", client, succeeded(every))
    assert set(machine.state.services) == {
        line.split()[1] for line in every.stdout.splitlines()[1:]
    }
    agrees(lab, "service-kubelet", client, succeeded(one))
    agrees(lab, "service-stop-refused", client, stop)
    refused(etcd, 'service "etcd" doesn\'t support restart operation via API')
    before = len(machine.state.services["kubelet"].events)
    agrees(lab, "service-restart", client, succeeded(ask("service", "kubelet", "restart")))
    lab.settle()
    kubelet = machine.state.services["kubelet"]
    assert kubelet.is_running
    assert kubelet.is_healthy
    assert len(kubelet.events) > before
    assert succeeded(ask("service", "kubelet", "start")).returncode == 0


def files_are_made_for_clients(lab: Lab, client: str) -> None:
    """A kubeconfig to a file, to the terminal, and into another; a talosconfig with roles."""
    ask = lab.talosctl(client)
    config = lab.machine().config
    assert config is not None
    file, shown, made = together(
        lambda: ask("kubeconfig", ask.home / "kubeconfig"),
        lambda: ask("kubeconfig", "-"),
        lambda: ask("config", "new", ask.home / "reader", "--roles", "os:reader"),
    )
    for answer in (file, shown, made):
        succeeded(answer)
    found: dict[str, Any] = yaml.safe_load(shown.stdout)
    cluster = found["clusters"][0]
    assert cluster["cluster"]["server"] == config.endpoint
    assert base64.b64decode(cluster["cluster"]["certificate-authority-data"]).decode().strip() == (
        config.k8s_ca.crt.strip()
    )
    assert (ask.home / "kubeconfig").stat().st_mode & 0o777 == 0o600
    merged = ask.home / ".kube" / "config"
    for _ in range(2):
        succeeded(ask("kubeconfig"))
    names = [context["name"] for context in yaml.safe_load(merged.read_text())["contexts"]]
    assert names == [f"admin@{config.cluster_name}", f"admin@{config.cluster_name}-1"]
    _reader_reads(lab, client)


def _reader_reads(lab: Lab, client: str) -> None:
    ask = lab.talosctl(client)
    made: dict[str, Any] = yaml.safe_load((ask.home / "reader").read_text())
    config = lab.machine().config
    assert config is not None
    assert made["context"] == f"reader@{config.cluster_name}"
    command = [str(ask.program), "--talosconfig", str(ask.home / "reader"), "-n", ask.nodes]
    for words, code in ((("version",), 0), (("etcd", "defrag"), 1)):
        answer = run(
            [*command, *words], capture_output=True, text=True, check=False, timeout=60, env={}
        )
        assert answer.returncode == code, answer.stderr


def values_are_kept(lab: Lab, client: str) -> None:
    """META keys are written and deleted."""
    machine, ask = lab.machine(), lab.talosctl(client)
    disk = machine.disk
    assert disk is not None
    succeeded(ask("meta", "write", "0x0c", "clover"))
    assert disk.meta_value(12) == b"clover"
    succeeded(ask("meta", "delete", "12"))
    assert disk.meta_value(12) is None
    agrees(lab, "meta-delete-unknown", client, ask("meta", "delete", "12"))


def images_are_pulled(lab: Lab, client: str, server: str) -> None:
    """An image is fetched and listed; one that is nowhere is not."""
    machine, ask = lab.machine(), lab.talosctl(client)
    unknown = ask("image", "pull", _UNKNOWN)
    assert "code = NotFound desc = error pulling image: failed to resolve" in unknown.stderr
    agrees(lab, "image-pull-unknown", client, unknown)

    pulled = succeeded(ask("image", "pull", _IMAGE))

    agrees(lab, "image-pull", client, pulled)
    assert _IMAGE in machine.state.images["k8s.io"]
    assert _UNKNOWN not in machine.state.images["k8s.io"]
    listed = succeeded(ask("image", "list"))
    assert _IMAGE in listed.stdout
    agrees(lab, "image-list", client, listed)
