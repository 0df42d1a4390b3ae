"""Git over HTTP: every request is answered by the git program's own backend."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from stockman_lab.http.go_style import text_error
from stockman_lab.http.messages import Request, Response

_SCP = re.compile(r"(?:[^@/\s]+@)?([A-Za-z0-9.-]+):(?!//)(\S+)")


def place_of(url: str) -> str:
    """The path that a repository is served below: host and path of its URL, without credentials.

    >>> place_of("git@github.com:owner/repo.git")
    '/github.com/owner/repo.git'
    """
    found = _SCP.fullmatch(url)
    if found is not None and "://" not in url:
        return f"/{found[1]}/{found[2].strip('/')}"
    parts = urlsplit(url)
    return f"/{parts.hostname or 'localhost'}/{parts.path.strip('/')}"


def found_place(repositories: Mapping[str, str], path: str) -> tuple[Path, str] | None:
    """The repository that a path of a request is about, and the rest of it. None: there is none."""
    for url, directory in repositories.items():
        place = place_of(url)
        for known in {place, place.removesuffix(".git"), f"{place.removesuffix('.git')}.git"}:
            if path == known or path.startswith(f"{known}/"):
                return Path(directory), path[len(known) :]
    return None


_OPTIONS = {"http.receivepack": "true", "safe.directory": "*"}
_KEPT = ("HOME", "PATH", "LANG", "TMPDIR")
_NOT_FOUND, _BROKEN, _NO_METHOD = 404, 500, 405
_METHODS = frozenset({"GET", "HEAD", "POST"})


class GitBackend:
    """Answers requests for the repositories that a lab knows, by the URLs that files name."""

    def __init__(self, repositories: Mapping[str, str], *, program: str = "git") -> None:
        self._repositories = repositories
        self._program = program

    async def __call__(self, request: Request) -> Response:
        """What git answers."""
        target, _, query = request.target.partition("?")
        rows = found_place(self._repositories, unquote(target))
        if rows is None or ".." in unquote(target).split("/"):
            return text_error(_NOT_FOUND, "repository not found")
        if request.method not in _METHODS:
            return text_error(_NO_METHOD, "method not allowed")
        directory, rest = rows
        try:
            process = await asyncio.create_subprocess_exec(
                self._program,
                "http-backend",
                env=_variables(request, directory, rest, query),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError:
            return text_error(_BROKEN, "git cannot be run")
        try:
            output, _ = await process.communicate(request.body)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return _response(output)


async def prepare(directory: Path, *, program: str = "git") -> None:
    """Make a bare repository where there is nothing; what is there stays as it is."""
    if not _is_made(directory):
        return
    process = await asyncio.create_subprocess_exec(
        *(program, "init", "--quiet", "--bare", "--initial-branch=main", str(directory)),
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    if await process.wait() != 0:
        raise OSError(f"git cannot make a repository in {directory}")


def _is_made(directory: Path) -> bool:
    """Whether a directory is empty now, made where there was none."""
    if directory.exists() and any(directory.iterdir()):
        return False
    directory.mkdir(parents=True, exist_ok=True)
    return True


def _variables(request: Request, directory: Path, text: str, query: str) -> dict[str, str]:
    root = directory / ".git" if (directory / ".git").is_dir() else directory
    headers = {
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "GIT_PROJECT_ROOT": str(root.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{root.name}{text}",
        "QUERY_STRING": query,
        "REQUEST_METHOD": request.method,
        "REMOTE_USER": "lab",
        "REMOTE_ADDR": request.peer,
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
    }
    for header, name in (
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ):
        if header in request.headers:
            headers[name] = request.headers[header]
    options = list(_OPTIONS.items())
    headers["GIT_CONFIG_COUNT"] = str(len(options))
    for number, (name, value) in enumerate(options):
        headers[f"GIT_CONFIG_KEY_{number}"] = name
        headers[f"GIT_CONFIG_VALUE_{number}"] = value
    return headers


def _response(output: bytes) -> Response:
    """An answer out of what a program writes for a web server: headers, and then the body."""
    head, separator, body = output.partition(b"\r\n\r\n")
    if not separator:
        return text_error(_BROKEN, "git gave no answer")
    headers: dict[str, str] = {}
    status = 200
    for line in head.decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "status":
            status = int(value.split()[0])
        else:
            headers[name.strip()] = value.strip()
    return Response(status, headers=headers, body=body)
