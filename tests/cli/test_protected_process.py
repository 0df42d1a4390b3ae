"""What every command does to its process before it handles secrets."""

import signal
import subprocess
import sys

from tests.cli.running import PATIENCE, clean

PROGRAM = """
import resource, time
from stockman.cli.main import _protect_process

_protect_process()
try:
    print(resource.getrlimit(resource.RLIMIT_CORE), flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    time.sleep(60)
"""


def test_no_core_is_dumped_and_the_second_sigterm_ends_the_process() -> None:
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=clean()) as process:
        assert process.stdout is not None
        limits = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        first = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        status = process.wait(PATIENCE)

    assert limits == "(0, 0)\n"
    assert first == "interrupted\n"
    assert status == -signal.SIGTERM
