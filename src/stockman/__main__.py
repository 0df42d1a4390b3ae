"""`python -m stockman` is the console script."""

from stockman.cli.main import main

if __name__ == "__main__":
    main()
