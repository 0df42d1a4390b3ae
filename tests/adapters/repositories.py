"""Small git repositories for tests."""

import subprocess
from pathlib import Path

_IDENTITY = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")


def git(directory: Path, *arguments: str) -> str:
    """What git prints."""
    done = subprocess.run(
        ["git", *_IDENTITY, *arguments],
        cwd=directory,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return done.stdout.strip()


def repository(directory: Path) -> Path:
    """A new, empty repository."""
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "--initial-branch=main")
    return directory


def committed(directory: Path, message: str = "one", **files: str) -> str:
    """Write files, commit everything and return the name of the commit; `__` stands for a dot."""
    for name, text in files.items():
        (directory / name.replace("__", ".")).write_text(text)
    git(directory, "add", "--all")
    git(directory, "commit", "--allow-empty", f"--message={message}")
    return git(directory, "rev-parse", "HEAD")
