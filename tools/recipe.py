"""The words that recipes are written in. Plain data: nothing here reads, runs or writes."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Delete:
    """Remove one file of the source copy."""

    path: str


@dataclass(frozen=True, kw_only=True)
class Write:
    """Create one file that the archive of the module lacks."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class DropBuildConstraint:
    """Let one Go file take part in every build."""

    path: str


Edit = Delete | Write | DropBuildConstraint


@dataclass(frozen=True, kw_only=True)
class GoModule:
    """A module of the registry, and what has to change in a copy before it builds."""

    path: str
    version: str
    local_replaces: str | None = None
    """The version that takes the place of directories outside the archive. None: there are none."""
    replaces: tuple[str, ...] = ()
    """In the form of `go mod edit -replace`: `module=other@version`."""
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GoCheck:
    """A small Go program of this repository that asks a library of the registry."""

    file: str
    """A file below `tools/checks`, or a directory of files that are built together."""
    requires: tuple[str, ...]
    """Each in the form `module@version`."""
    replaces: tuple[str, ...] = ()
    """As those of a module."""


@dataclass(frozen=True, kw_only=True)
class GoProgram:
    """One `go build`, or one `go test -c` when `tests` is set."""

    source: GoModule | GoCheck
    package: str = "."
    ldflags: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tests: bool = False


@dataclass(frozen=True, kw_only=True)
class NpmProgram:
    """One command of npm packages that bring the Node they need with them."""

    packages: tuple[str, ...]
    """Each in the form `name@version`."""
    node: str
    """The directory of `node`, below `node_modules`."""
    command: str
    """A file below `node_modules/.bin`."""


@dataclass(frozen=True, kw_only=True)
class DebianProgram:
    """A program that the operating system provides."""

    package: str


@dataclass(frozen=True, kw_only=True)
class UnpackedProgram:
    """A program of a Debian package that is unpacked into the cache: nothing is installed."""

    packages: tuple[str, ...]
    """The package of the program, and those of its libraries that no minimal system has."""


Recipe = GoProgram | NpmProgram | DebianProgram | UnpackedProgram


@dataclass(frozen=True, kw_only=True)
class Program:
    """One entry of the table: a name to ask for, and how it is had."""

    name: str
    """`NAME` or `NAME@VARIANT` where several are kept side by side."""
    version: str
    """The pinned version; for a Debian program the one it was tried with."""
    recipe: Recipe
    core: bool = False
    """Built ahead by `python -m tools build` without names."""

    @property
    def executable(self) -> str:
        """The file name of the program, without the variant."""
        return self.name.partition("@")[0]
