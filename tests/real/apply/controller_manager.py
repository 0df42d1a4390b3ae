"""A real controller manager beside a real API server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.real.rendered.api_server import ApiServer
from tools.pytest_plugin import RealTool


@contextmanager
def controller_manager(place: Path, server: ApiServer, real_tool: RealTool) -> Iterator[None]:
    """A real controller manager while it runs."""
    (place / "ca.crt").write_bytes((place / "certificates" / "apiserver.crt").read_bytes())
    command = (
        real_tool("kube-controller-manager"),
        f"--kubeconfig={place / 'kubeconfig'}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        "--secure-port=0",
        f"--service-account-private-key-file={place / 'sa.key'}",
        f"--root-ca-file={place / 'ca.crt'}",
        "--node-monitor-grace-period=200s",
    )
    with (place / "controllers.log").open("w") as output_file:
        process = subprocess.Popen(command, stdout=output_file, stderr=subprocess.STDOUT)
        try:
            yield
        finally:
            process.terminate()
            process.wait()
