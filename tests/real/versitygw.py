"""A real S3 server on a loopback address while a test runs."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

ACCESS_KEY = "stockman-judged"
SECRET_KEY = "not-a-secret-of-anybody"
_PATIENCE = 20.0
_MOMENT = 0.05


@contextmanager
def versitygw_served(program: Path, folder: Path) -> Iterator[str]:
    """Serve buckets below a folder; yields the URL."""
    for name in ("data", "side"):
        (folder / name).mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    host = f"127.0.0.1:{port}"
    command: list[str | Path] = [program, "--quiet", "--port", host, "posix"]
    command += ["--sidecar", folder / "side", folder / "data"]
    variables = {"ROOT_ACCESS_KEY_ID": ACCESS_KEY, "ROOT_SECRET_ACCESS_KEY": SECRET_KEY}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log, cwd=folder)
    try:
        _wait(f"http://{host}/", process)
        yield f"http://{host}"
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(int(_PATIENCE / _MOMENT)):
        if process.poll() is not None:
            break
        try:
            urlopen(url, timeout=1).close()
        except HTTPError:
            return
        except OSError:
            time.sleep(_MOMENT)  # noqa: TID251  # a real program starts in real time
    raise RuntimeError("versitygw does not answer")
