"""A real S3 server on a loopback address while a test runs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.real.ports import free_port
from tests.real.waiting import wait_until

ACCESS_KEY = "stockman-judged"
SECRET_KEY = "not-a-secret-of-anybody"
_PATIENCE = 20.0


@contextmanager
def versitygw_served(program: Path, folder: Path) -> Iterator[str]:
    """Serve buckets below a folder; yields the URL."""
    for name in ("data", "side"):
        (folder / name).mkdir(parents=True)
    host = f"127.0.0.1:{free_port()}"
    command: list[str | Path] = [program, "--quiet", "--port", host, "posix"]
    command += ["--sidecar", folder / "side", folder / "data"]
    variables = {"ROOT_ACCESS_KEY_ID": ACCESS_KEY, "ROOT_SECRET_ACCESS_KEY": SECRET_KEY}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log, cwd=folder)
    try:
        wait_until(
            lambda: _answers(f"http://{host}/", process), lambda: "versitygw does not answer"
        )
        yield f"http://{host}"
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "versitygw has ended"
    try:
        urlopen(url, timeout=1).close()
    except HTTPError:
        return True  # it knows who may ask
    except OSError:
        return False
    return True
