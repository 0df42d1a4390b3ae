"""`python -m tests.cli.fake_program`: the console entry over the fake commands."""

import sys

from stockman.cli.edge import run
from tests.cli.fake_commands import REGISTRY


def main() -> None:
    sys.exit(run(sys.argv[1:], REGISTRY))


if __name__ == "__main__":
    main()
