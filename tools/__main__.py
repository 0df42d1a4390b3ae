"""`python -m tools`."""

import signal
import sys
from typing import NoReturn

from tools.cli import main


def _terminate(_signal: int, _frame: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


# An exception, so that a running compiler is stopped as well.
signal.signal(signal.SIGTERM, _terminate)
sys.exit(main(sys.argv[1:]))
