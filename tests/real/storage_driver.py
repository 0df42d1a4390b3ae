"""The storage driver for Kubernetes on Proxmox VE, and what runs beside it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import yaml
from stockman_lab.testing.thread import ProxmoxLab

from tools.pytest_plugin import RealTool

DRIVER = "csi.proxmox.sinextra.dev"


@contextmanager
def storage_driver(
    lab: ProxmoxLab, region: str, folder: Path, program: Path, kubeconfig: Path
) -> Iterator[Path]:
    """The driver itself while it runs, by its socket."""
    cluster = {
        "url": f"{lab.endpoint}/api2/json",
        "insecure": True,
        "token_id": lab.token_id,
        "token_secret": lab.token_secret,
        "region": region,
    }
    config, socket = folder / "cloud.yaml", folder / "csi.sock"
    config.write_text(yaml.safe_dump({"clusters": [cluster]}))
    with _running(
        folder / "driver.log",
        *(program, "-cloud-config", config, "-kubeconfig", kubeconfig),
        *("-csi-address", f"unix://{socket}"),
    ):
        yield socket


@contextmanager
def sidecars(kubeconfig: Path, socket: Path, folder: Path, real_tool: RealTool) -> Iterator[None]:
    """What makes claims and attachments of Kubernetes into calls of the driver."""
    with ExitStack() as stack:
        provisioner = (
            *(real_tool("csi-provisioner"), "--kubeconfig", kubeconfig, "--csi-address", socket),
            *("--leader-election", "--leader-election-namespace", "kube-system"),
        )
        stack.enter_context(_running(folder / "provisioner.log", *provisioner))
        attacher = (real_tool("check-csi-attacher"), kubeconfig, f"unix://{socket}")
        stack.enter_context(_running(folder / "attacher.log", *attacher))
        yield


@contextmanager
def _running(log: Path, *command: str | Path) -> Iterator[None]:
    with log.open("w") as output:
        process = subprocess.Popen(
            command, env={"PATH": os.environ["PATH"]}, stdout=output, stderr=output
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)
