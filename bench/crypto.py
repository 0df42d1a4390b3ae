"""SOPS and age in process against the programs `sops` and `age`, side by side.

    python -m bench.crypto

Prints every ratio with its limit; exits with 1 when one is over. CPU time, and for streams the
peak of memory too.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from bench.measure import cpu_seconds, least_call
from bench.ratio import Ratio, report

FILES = 100
GIB = 1 << 30
STREAM_ROUNDS = 2

_SECRET = """\
apiVersion: v1
kind: Secret
metadata:
  name: app-{number}-secret
stringData:
  user: app-{number}
  password: correct horse battery staple {number}
  config.yaml: |
    database:
      host: 127.0.0.1
      port: 5432
  token: "{number:064x}"
"""


def sops_files(directory: Path, sops: Path, age_keygen: Path) -> list[Ratio]:
    """100 files encrypted and decrypted, against one call of `sops` per file and direction."""
    from stockman.crypto.age.identities import parse_identities
    from stockman.crypto.sops.files import EncryptionInputs, decrypt, encrypt
    from stockman.crypto.sops.selectors import EncryptionSettings

    key = directory / "age.key"
    subprocess.run([age_keygen, "-o", key], check=True, capture_output=True)
    identities = parse_identities(key.read_text())
    recipient = identities[0].recipient
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "SOPS_AGE_KEY_FILE": str(key),
    }
    plain = [_SECRET.format(number=number).encode() for number in range(FILES)]
    recipe = EncryptionSettings(recipients=(recipient,))
    fresh = EncryptionInputs(now=datetime.now(UTC), random_bytes=os.urandom)

    def ours() -> None:
        for text in plain:
            decrypt(
                encrypt(text, "secret.sops.yaml", recipe, fresh), "secret.sops.yaml", identities
            )

    mine = least_call({"ours": ours}, 3)["ours"]
    theirs = 0.0
    for number, text in enumerate(plain):
        file = directory / f"{number}.sops.yaml"
        file.write_bytes(text)
        for command in (["encrypt", "--age", recipient, "-i"], ["decrypt"]):
            theirs += cpu_seconds([str(sops), *command, str(file)], environment)
    detail = f"{mine * 1000:.0f} ms / {theirs * 1000:.0f} ms of CPU for {FILES} files"
    return [Ratio("SOPS files / sops per file", mine / theirs, 0.2, detail)]


def age_stream(directory: Path, age: Path, age_keygen: Path) -> list[Ratio]:
    """1 GiB encrypted and decrypted as streams, in another process for its memory."""
    key = directory / "stream.key"
    subprocess.run([age_keygen, "-o", key], check=True, capture_output=True)
    public = subprocess.run(
        [age_keygen, "-y", key], check=True, capture_output=True, text=True
    ).stdout.strip()
    plain, sealed = directory / "plain", directory / "sealed"
    _fill(plain)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    ours = [sys.executable, "-m", "bench.crypto"]
    null = os.devnull
    pairs: list[tuple[str, list[str], list[str]]] = [
        (
            "encrypting",
            [*ours, "encrypt", public, str(plain), null],
            [str(age), "-r", public, "-o", null, str(plain)],
        ),
        (
            "decrypting",
            [*ours, "decrypt", str(key), str(sealed), null],
            [str(age), "-d", "-i", str(key), "-o", null, str(sealed)],
        ),
    ]
    subprocess.run([age, "-r", public, "-o", sealed, plain], check=True)
    measured: list[Ratio] = []
    for name, mine, theirs in pairs:
        best = _least_wall(mine, theirs, environment)
        speed = best[1] / best[0]
        detail = f"{GIB / best[0] / 2**20:.0f} MiB/s / {GIB / best[1] / 2**20:.0f} MiB/s"
        # The limit is one on slowness: at least half the speed is at most twice the time.
        measured.append(Ratio(f"age {name} 1 GiB, time / age", 1 / speed, 2.0, detail))
        peak = int(subprocess.run(mine, env=environment, check=True, capture_output=True).stdout)
        measured.append(Ratio(f"age {name} 1 GiB, memory in MiB", peak / 1024, 50.0, "peak"))
    return measured


def _least_wall(mine: list[str], theirs: list[str], environment: dict[str, str]) -> list[float]:
    best = [float("inf"), float("inf")]
    for _ in range(STREAM_ROUNDS):
        for folder, command in enumerate((mine, theirs)):
            begin = time.perf_counter()
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            best[folder] = min(best[folder], time.perf_counter() - begin)
    return best


def _fill(path: Path) -> None:
    block = os.urandom(1 << 20)
    with path.open("wb") as file:
        for _ in range(GIB >> 20):
            file.write(block)


def stream(action: str, key: str, source: str, target: str) -> None:
    """One stream from file to file; prints the peak of memory in KiB."""
    from stockman.crypto.age.files import decrypt_stream, encrypt_stream
    from stockman.crypto.age.identities import parse_identities, parse_recipient

    with Path(source).open("rb") as plain, Path(target).open("wb") as out:
        chunks = iter(lambda: plain.read(1 << 18), b"")
        if action == "encrypt":
            pieces = encrypt_stream(chunks, [parse_recipient(key)], os.urandom)
        else:
            pieces = decrypt_stream(chunks, parse_identities(Path(key).read_text()))
        out.writelines(pieces)
    print(_peak())


def _peak() -> int:
    """Most memory this program had, in KiB; the usual figure still counts its parent's on Linux."""
    status = Path("/proc/self/status")
    if status.exists():
        measured = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE)
        if measured is not None:
            return int(measured[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def ratios() -> list[Ratio]:
    """Everything that is measured here; nothing where the programs cannot be had."""
    from tools.errors import ToolError
    from tools.provide import Provider

    provider = Provider()
    try:
        sops, age, age_keygen = (provider.path(name) for name in ("sops", "age", "age-keygen"))
    except ToolError as missing:
        print(f"sops and age are left out: {missing}")
        return []
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        return [
            *sops_files(directory, sops, age_keygen),
            *age_stream(directory, age, age_keygen),
        ]


if __name__ == "__main__":
    if len(sys.argv) == 5:
        stream(*sys.argv[1:])
        sys.exit(0)
    sys.exit(report(ratios()))
