"""One bundle of ours for all judges, and how they are asked."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from stockman.adapters.system import SystemClock, SystemEntropy
from stockman.model.version import Version
from stockman.talos.credentials.certificates import ClientIssuer
from stockman.talos.secrets.bundle import SecretsBundle, new_bundle

CLOCK, ENTROPY = SystemClock(), SystemEntropy()


@cache
def bundle() -> SecretsBundle:
    return new_bundle(Version(1, 14), CLOCK.now(), ENTROPY.random_bytes)


def issuer() -> ClientIssuer:
    return ClientIssuer(
        bundle=bundle(),
        talos=Version(1, 14, 1),
        now=CLOCK.now(),
        random_bytes=ENTROPY.random_bytes,
    )


def output(*command: str | Path, text: str = "") -> str:
    run = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
