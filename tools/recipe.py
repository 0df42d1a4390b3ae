"""Records of recipes: plain data without behavior."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Delete:
    """Delete a file of the source copy."""

    path: str


@dataclass(frozen=True, kw_only=True)
class Write:
    """Create a file that is missing in the archive of the module."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class DropBuildConstraint:
    """Remove the build constraint of a Go file."""

    path: str


Edit = Delete | Write | DropBuildConstraint


@dataclass(frozen=True, kw_only=True)
class GoModule:
    """A module of the registry, and changes that it needs."""

    path: str
    version: str
    local_replaces: str | None = None
    """Version that replaces directories outside of the archive. None: there are none."""
    replaces: tuple[str, ...] = ()
    """In the form of `go mod edit -replace`: `module=other@version`."""
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GoCheck:
    """A small Go program of this repository that calls a library of the registry."""

    file: str
    """A file or directory in `tools/checks`."""
    requires: tuple[str, ...]
    """In the form `module@version`."""
    replaces: tuple[str, ...] = ()
    """As in `GoModule`."""


@dataclass(frozen=True, kw_only=True)
class GoProgram:
    """A program built with `go build`, or `go test -c` if `tests` is set."""

    source: GoModule | GoCheck
    package: str = "."
    ldflags: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tests: bool = False


@dataclass(frozen=True, kw_only=True)
class NpmProgram:
    """A command of npm packages that contain the Node version they need."""

    packages: tuple[str, ...]
    """In the form `name@version`."""
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
    """A program of Debian packages that are unpacked into the cache."""

    packages: tuple[str, ...]
    """The package of the program, and packages of libraries that minimal systems lack."""


Recipe = GoProgram | NpmProgram | DebianProgram | UnpackedProgram


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program: its name and recipe."""

    name: str
    """`NAME`, or `NAME@VARIANT` if there are several."""
    version: str
    """The pinned version; for a Debian program the tested one."""
    recipe: Recipe
    core: bool = False
    """Built by `python -m tools build` without names."""

    @property
    def executable(self) -> str:
        """The file name of the program."""
        return self.name.partition("@")[0]
