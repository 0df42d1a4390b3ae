"""The files of a template tree, read into memory; nothing outside of its root is ever opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.rendering.templates.contract import NOT_RENDERED, SUFFIX, Contract, Limits
from stockman.rendering.templates.errors import TemplateStopped

_PERMISSIONS = 0o777
_CODE = re.compile(r"#%.*?(?:%#|\Z)|#\{.*?(?:\}#|\Z)", re.DOTALL)


@record
class TemplateFile:
    """One file of a tree."""

    label: str
    """Path from the top of the repository, as people know it."""
    path: str
    """Path below its input."""
    content: bytes
    mode: int
    """Permissions."""

    @property
    def is_template(self) -> bool:
        return PurePosixPath(self.path).suffix == SUFFIX

    @property
    def is_rendered(self) -> bool:
        """Whether it gives a file, or is there to be included only."""
        return not self.path.endswith(NOT_RENDERED)

    @property
    def target(self) -> str:
        """Path of what it gives."""
        path = PurePosixPath(self.path)
        return str(path.with_suffix("") if self.is_template else path)

    def source(self, limits: Limits) -> str:
        """The text of a template, with one kind of line ends."""
        if len(self.content) > limits.source:
            raise _unreadable(
                self.label,
                f"it has {len(self.content):,} bytes; a template has at most {limits.source:,}",
                "split it into several",
            )
        try:
            text = self.content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _unreadable(
                self.label,
                f"byte {error.start + 1} is not UTF-8",
                "save it as UTF-8, or drop its suffix so that it is copied as it is",
            ) from None
        code = sum(len(found) for found in _CODE.findall(text))
        if code > limits.code:
            raise _unreadable(
                self.label,
                f"{code:,} characters of it are blocks and values; at most {limits.code:,} are",
                "split it into several",
            )
        return text.replace("\r\n", "\n").replace("\r", "\n")


@record
class TemplateTree:
    """All inputs of a tree, the one that wins first."""

    contract: Contract
    inputs: tuple[dict[str, TemplateFile], ...]
    """Files by their path below the input, in the order in which they are rendered."""

    def rendered(self) -> Iterator[TemplateFile]:
        """The files that give results: of each path the first."""
        seen: set[str] = set()
        for files in self.inputs:
            for file in files.values():
                if file.is_rendered and file.target not in seen:
                    seen.add(file.target)
                    yield file

    def included(self, name: str) -> TemplateFile | None:
        """The file that an include, import or extends of this name means; None: there is none."""
        parts = [part for part in name.split("/") if part and part != "."]
        if ".." in parts or name.startswith("/"):
            raise TemplateStopped(
                code="template.outside-root",
                what=f"{name} is outside of {self.contract.root}",
                why="templates include each other by their path below overrides or config",
                fix="move the file into the tree, and name it by its path there",
            )
        path = "/".join(parts)
        return next((files[path] for files in self.inputs if path in files), None)


def read_tree(top: Path, contract: Contract, problems: Problems, limits: Limits) -> TemplateTree:
    """Read the tree of a repository; what is not there is empty."""
    root = top / contract.root
    inputs: list[dict[str, TemplateFile]] = []
    left = limits.files
    for name in contract.inputs:
        files: dict[str, TemplateFile] = {}
        for path in _walk(top / name):
            left -= 1
            if left < 0:
                problems.add(_too_many(contract, limits))
                return TemplateTree(contract=contract, inputs=(*inputs, files))
            relative = path.relative_to(top / name).as_posix()
            file = _read(path, f"{name}/{relative}", relative, _TreeReader(root, problems, limits))
            if file is not None:
                files[relative] = file
        inputs.append(files)
    return TemplateTree(contract=contract, inputs=tuple(inputs))


class _TreeReader:
    def __init__(self, root: Path, problems: Problems, limits: Limits) -> None:
        self.root = root.resolve()
        self.problems = problems
        self.limits = limits


def _walk(directory: Path) -> Iterator[Path]:
    """All that is no directory, in the order of makejinja; links to directories are not entered."""
    if not directory.is_dir():
        return
    found = sorted(directory.glob("**/*"))
    yield from (path for path in found if path.is_symlink() or path.is_file())


def _read(path: Path, label: str, relative: str, reading: _TreeReader) -> TemplateFile | None:
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(reading.root):
            reading.problems.add(_link_out(label, path))
            return None
        if path.is_dir():
            return None
        with path.open("rb") as file:
            content = file.read(reading.limits.copied + 1)
        mode = path.stat().st_mode & _PERMISSIONS
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or "its link leads in a circle"
        fix = "check that it is a file that you may read"
        reading.problems.add(_unreadable(label, why, fix).at(label))
        return None
    if len(content) > reading.limits.copied:
        why = f"it has more than {reading.limits.copied:,} bytes"
        fix = "keep files of this size out of the repository"
        reading.problems.add(_unreadable(label, why, fix).at(label))
        return None
    return TemplateFile(label=label, path=relative, content=content, mode=mode)


def _unreadable(label: str, why: str, fix: str) -> TemplateStopped:
    return TemplateStopped(
        code="template.unreadable", what=f"{label} cannot be read", why=why, fix=fix, where=label
    )


def _link_out(label: str, path: Path) -> Problem:
    return Problem(
        code="template.outside-root",
        what=f"{label} is a link that leads out of the templates",
        where=label,
        why="what it points to is not part of the repository's templates",
        fix="put a copy of the file there instead of the link",
    )


def _too_many(contract: Contract, limits: Limits) -> Problem:
    return Problem(
        code="template.unreadable",
        what=f"{contract.root} has too many files",
        where=contract.root,
        why=f"there are more than {limits.files:,}",
        fix="keep only templates in it",
    )
