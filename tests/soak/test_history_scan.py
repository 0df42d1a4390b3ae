"""A long history is scanned to its end, in little memory."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.adapters.repositories import git
from tests.app.workspaces import committed_workspace
from tests.cli.running import clean
from tests.talos.made import bundle

COMMITS = 700
FILE_BYTES = 1_500_000
"""A gibibyte altogether."""
MOST_MEMORY = 250 * 1024
"""KiB: the program alone takes a third of it."""


def stream() -> Iterator[bytes]:
    """What `git fast-import` takes: a file that differs in every commit."""
    text = b"".join(b"key-%d: value of the key number %d\n" % (one, one) for one in range(45_000))
    text = text[:FILE_BYTES]
    for number in range(COMMITS):
        content = b"%d\n" % number + text[number:]
        if number == COMMITS // 2:
            content += bundle().certs.os.key.reveal().encode()
        yield b"commit refs/heads/long\ncommitter x <x@example.com> %d +0000\n" % (number + 1)
        yield b"data 1\nx\nM 644 inline f%d.txt\ndata %d\n" % (number % 3, len(content))
        yield content + b"\n"


def test_a_gibibyte_of_history_is_scanned_in_little_memory(tmp_path: Path) -> None:
    path = committed_workspace(tmp_path / "meadow")
    with subprocess.Popen(
        ["git", "fast-import", "--quiet"], cwd=path, stdin=subprocess.PIPE
    ) as imported:
        assert imported.stdin is not None
        for piece in stream():
            imported.stdin.write(piece)
    assert int(git(path, "rev-list", "--count", "long")) == COMMITS

    done = subprocess.run(
        [sys.executable, "-m", "stockman", "-C", str(path), "secrets", "check"],
        env=clean(HOME=str(tmp_path)),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.count("error[leak.value]") == 1
    assert f"{COMMITS + 1} commits" in done.stdout
    assert done.stderr.count("objects of history") >= 3
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < MOST_MEMORY
