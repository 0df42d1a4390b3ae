"""Keys of a cluster, made once by a real `init`: an RSA key takes longer than all other files."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from tests.cli.inside import ran_inside

_KEYS = ("age.key", "talos/talsecret.sops.yaml")


def with_keys(directory: Path) -> Path:
    """The directory, in which an `init` finds and keeps what encrypts secrets, and the bundle."""
    for name in _KEYS:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(_made() / name, path)
    return directory


@cache
def _made() -> Path:
    path = Path(tempfile.mkdtemp(prefix="stockman-keys-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    done = ran_inside("init", str(path), "--preset", "single", "--yes")
    assert done.status == 0, done.err
    return path
