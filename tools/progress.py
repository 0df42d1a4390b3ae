"""What a build says while it runs: one line per step, on standard error."""

import sys
import time


class Progress:
    """Lines about one program, each with the seconds since the first."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._start = time.monotonic()

    def say(self, text: str) -> None:
        elapsed = time.monotonic() - self._start
        sys.stderr.write(f"[{elapsed:6.1f} s] {self._name}: {text}\n")
        sys.stderr.flush()
