"""etcd: a large snapshot that streams, against the same bytes copied through one TLS socket.

    python -m bench.etcd

Prints the ratios with their limits; exits with 1 when one is over.
"""

from __future__ import annotations

import hashlib
import os
import resource
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

from bench.measure import least_call
from bench.ratio import Ratio, report

SIZE = 200 << 20
VALUE = 2_000
ROUNDS = 3
PIECE = 1 << 16
MIB = 1 << 20


def ratios() -> list[Ratio]:
    """Everything that is measured here, by a process whose memory nothing else has used."""
    command = [sys.executable, "-m", "bench.etcd", "measure"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    streamed, copied, grown, summed, hashed = (float(text) for text in answer.stdout.split())
    return [
        Ratio(
            "200 MiB snapshot / copied through TLS",
            streamed / copied,
            1 / 0.3,
            f"{streamed * 1000:.0f} ms / {copied * 1000:.0f} ms",
        ),
        Ratio("MiB that such a stream needs", grown, 32.0, "beside what the keyspace has"),
        Ratio(
            "status of a 200 MiB snapshot / SHA-256",
            summed / hashed,
            None,
            f"{summed * 1000:.0f} ms / {hashed * 1000:.0f} ms",
        ),
    ]


def measure() -> None:
    """Print seconds of streaming and copying, memory of streaming, seconds of status and hash."""
    from stockman_lab.etcd.snapshots import snapshot

    from lab.tests.etcd.keyspaces import one_member
    from stockman.etcd.status import snapshot_status

    cluster = one_member()
    for number in range(SIZE // VALUE):
        name = b"/registry/pods/default/sheep-%d" % number
        cluster.keyspace.put(name, number.to_bytes(4, "big") * (VALUE // 4))
    before = _resident()
    size = sum(map(len, snapshot(cluster)))
    grown = (_resident() - before) / MIB
    assert size > SIZE
    content = b"".join(snapshot(cluster))
    view = memoryview(content)
    pieces = [view[begin : begin + PIECE] for begin in range(0, size, PIECE)]
    with _connect() as send:
        sent = least_call(
            {"stream": lambda: send(snapshot(cluster)), "copy": lambda: send(pieces)}, ROUNDS
        )
    measured = least_call(
        {"status": lambda: snapshot_status(content), "hash": lambda: hashlib.sha256(content)},
        ROUNDS,
    )
    print(sent["stream"], sent["copy"], grown, measured["status"], measured["hash"])


@contextmanager
def _connect() -> Iterator[Callable[[Iterable[bytes | memoryview]], None]]:
    """A function that sends pieces to the other end of a socket, which throws them away.

    That end is a thread of this process: the time of a copy is that of both ends.
    """
    from stockman_lab.authority.making import new_authority, new_certificate, server_context
    from stockman_lab.core.dice import Dice

    now, dice = datetime.now(UTC), Dice(seed=1)
    authority = new_authority(now, dice.random_bytes)
    certificate = new_certificate(authority, ["127.0.0.1"], now, dice.random_bytes)
    trusting = ssl.create_default_context(cadata=authority.certificate.pem)
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        context = server_context(certificate, Path(folder))
        taker = Thread(target=_drain, args=(listener.getsockname()[1], trusting))
        taker.start()
        accepted, _ = listener.accept()
        with context.wrap_socket(accepted, server_side=True) as wire:
            yield lambda pieces: _send(wire, pieces)
        taker.join()


def _send(wire: ssl.SSLSocket, pieces: Iterable[bytes | memoryview]) -> None:
    for piece in pieces:
        wire.sendall(piece)


def _drain(port: int, context: ssl.SSLContext) -> None:
    """Take whatever comes, until nothing comes any more."""
    taken = bytearray(PIECE)
    plain = socket.create_connection(("127.0.0.1", port))
    with context.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=True) as wire:
        while wire.recv_into(taken):
            pass


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(arguments: list[str]) -> int:
    """Measure, or be one of the processes that are measured."""
    match arguments:
        case ["measure"]:
            measure()
        case _:
            return report(ratios())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
