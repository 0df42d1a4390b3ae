"""A disk that is really full: the old tree stays, and nothing is left beside it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import REAL, clean, ran

SMALL = """\
set -e
mount -t tmpfs -o size=2m tmpfs "$1"
cp -r "$2/." "$1"
dd if=/dev/zero of="$1/filling" bs=1k 2>/dev/null || true
truncate -s -"$3"k "$1/filling"
cd "$1"
find . -type f ! -name filling -exec sha256sum {} + | sort >"$4/before"
status=0
shift 4
"$@" || status=$?
find . -type f ! -name filling -exec sha256sum {} + | sort >"$OLDPWD/after"
exit $status
"""
OWN_NAMESPACES = ("unshare", "--user", "--map-root-user", "--mount")


@pytest.mark.parametrize("room", [0, 8, 24], ids="{} KB left".format)
def test_the_old_tree_stays_where_there_is_no_room_for_the_new(tmp_path: Path, room: int) -> None:
    if (
        shutil.which("unshare") is None
        or subprocess.run([*OWN_NAMESPACES, "true"], check=False).returncode
    ):
        pytest.skip("no file system can be mounted here")
    start, disk = tmp_path / "start", tmp_path / "disk"
    disk.mkdir()
    for command in (("init", str(start), "--preset", "single"), ("-C", str(start), "render")):
        assert ran(*command, program=REAL, HOME=str(tmp_path)).status == 0
    with (start / "cluster.yaml").open("a") as file:
        file.write("components: {monitoring: {enabled: true, settings: {outside: true}}}\n")

    done = subprocess.run(
        [
            *(*OWN_NAMESPACES, "sh", "-c", SMALL, "sh"),
            *(disk, start, str(room), tmp_path),
            *(*REAL, "render"),
        ],
        cwd=tmp_path,
        env=clean(HOME=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1, done.stderr
    assert "No space left on device" in done.stderr
    assert "nothing was changed" in done.stderr
    before = (tmp_path / "before").read_text()
    assert "./talos/talconfig.yaml" in before
    assert (tmp_path / "after").read_text() == before
