"""The console entry point. Version and overview are printed without importing anything large."""

from __future__ import annotations

import gc
import os
import sys

from stockman import __version__

_OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""More objects than an import allocates; they all stay, so collecting during it is useless."""


def main() -> None:
    """Run the command line of this process and exit with its status."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        status = _status(sys.argv[1:])
    except KeyboardInterrupt:
        status = _report_interrupt()
    # The process ends here; collecting cycles of remaining objects would only cost time.
    gc.freeze()
    sys.exit(status)


def _status(arguments: list[str]) -> int:
    quick = _quick_answer(arguments)
    if quick is not None and _print_text(quick):
        return 0
    from stockman.cli.edge import run

    _protect_process()
    return run(arguments)


def _protect_process() -> None:
    """Disable core dumps, which contain secrets, and let SIGTERM act like Ctrl-C."""
    import resource
    import signal

    def interrupt(*_: object) -> None:
        # The second one ends the process at once.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, interrupt)


def _report_interrupt() -> int:
    from stockman.cli.output import Exit

    if sys.stderr is not None:
        sys.stderr.write("interrupted\n")
    return Exit.INTERRUPTED


def _quick_answer(arguments: list[str]) -> str | None:
    if arguments == ["--version"]:
        return __version__
    if arguments in (["--help"], ["-h"]):
        from stockman.cli.overview import overview
        from stockman.cli.registry import COMMANDS
        from stockman.cli.terminal.layout import help_width

        return overview(COMMANDS, help_width(os.environ))
    return None


def _print_text(text: str) -> bool:
    """Write the text to stdout. On failure return False; the normal path then reports the error."""
    if sys.stdout is None:
        return False
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except (OSError, UnicodeEncodeError):
        return False
    return True
