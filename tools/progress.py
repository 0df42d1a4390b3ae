"""Progress of a build: one line per step, on stderr."""

import sys
import time


class Progress:
    """Prints lines about one program, with the seconds since the start."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._start = time.monotonic()

    def say(self, text: str) -> None:
        elapsed = time.monotonic() - self._start
        sys.stderr.write(f"[{elapsed:6.1f} s] {self._name}: {text}\n")
        sys.stderr.flush()
