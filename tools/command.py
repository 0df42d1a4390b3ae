"""Run a compiler or installer: output to a log, progress, a short report on failure."""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.errors import ToolError
from tools.progress import Progress

STILL_RUNNING_SECONDS = 15.0
_LAST_LINES = 20


@dataclass(frozen=True, kw_only=True)
class CommandRunner:
    """Runs the commands of one build."""

    log: Path
    progress: Progress
    environment: Mapping[str, str]
    still_running_seconds: float = STILL_RUNNING_SECONDS

    def run(self, doing: str, command: Sequence[str | Path], cwd: Path) -> str:
        """Run a command; returns its stdout, and writes its stderr to the log."""
        arguments = [str(argument) for argument in command]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a+b") as log, tempfile.TemporaryFile() as output:
            log.write(f"$ {' '.join(arguments)}\n".encode())
            log.flush()
            before = log.tell()
            process = subprocess.Popen(
                arguments,
                cwd=cwd,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=log,
            )
            status = self._wait(doing, process)
            output.seek(0)
            printed = output.read()
            if status != 0:
                log.write(printed)
                log.flush()
                log.seek(before)
                raise ToolError(self._report(arguments, status, log.read()))
        return printed.decode()

    def _wait(self, doing: str, process: subprocess.Popen[bytes]) -> int:
        try:
            while True:
                try:
                    return process.wait(self.still_running_seconds)
                except subprocess.TimeoutExpired:
                    self.progress.say(f"still {doing}")
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()

    def _report(self, arguments: Sequence[str], status: int, written: bytes) -> str:
        last = written.decode(errors="replace").splitlines()[-_LAST_LINES:]
        shown = "\n".join(f"  {line}" for line in last)
        short = " ".join([Path(arguments[0]).name, *arguments[1:3]])
        return f"`{short}` exited with status {status}\n{shown}\n  full log: {self.log}"
