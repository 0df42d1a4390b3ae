"""Read the files of a template tree; nothing outside of its root is opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from stockman.model.pattern import pattern
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.rendering.templates.contract import (
    NOT_RENDERED,
    SUFFIX,
    Contract,
    Limits,
    TemplateStopped,
)

_PERMISSIONS = 0o777
_CODE = pattern(r"#%.*?(?:%#|\Z)|#\{.*?(?:\}#|\Z)", re.DOTALL)


@record
class TemplateFile:
    """One file of a tree."""

    label: str
    """Path in the repository, for messages."""
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
        """Whether it is rendered, or only included."""
        return not self.path.endswith(NOT_RENDERED)

    @property
    def target(self) -> str:
        """Path of the rendered file."""
        path = PurePosixPath(self.path)
        return str(path.with_suffix("") if self.is_template else path)

    def source(self, limits: Limits) -> str:
        """The text of a template, with normalized line ends."""
        if len(self.content) > limits.source:
            raise _unreadable(
                self.label,
                f"it has {len(self.content):,} bytes; a template may have at most "
                f"{limits.source:,}",
                "split it into several files",
            )
        try:
            text = self.content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _unreadable(
                self.label,
                f"byte {error.start + 1} is not UTF-8",
                "save it as UTF-8, or remove its suffix to copy it unchanged",
            ) from None
        code = sum(len(code_block) for code_block in _CODE.findall(text))
        if code > limits.code:
            raise _unreadable(
                self.label,
                f"{code:,} characters are blocks and expressions; at most {limits.code:,} "
                "are allowed",
                "split it into several files",
            )
        return text.replace("\r\n", "\n").replace("\r", "\n")


@record
class TemplateTree:
    """All inputs of a tree; the first one has priority."""

    contract: Contract
    inputs: tuple[dict[str, TemplateFile], ...]
    """Files by path below the input, in rendering order."""

    def files_to_render(self) -> Iterator[TemplateFile]:
        """The files to render: the first one of each path."""
        seen: set[str] = set()
        for files in self.inputs:
            for file in files.values():
                if file.is_rendered and file.target not in seen:
                    seen.add(file.target)
                    yield file

    def find_included(self, name: str) -> TemplateFile | None:
        """Return the file that an include, import or extends refers to; None: it does not exist."""
        names = [folder for folder in name.split("/") if folder and folder != "."]
        if ".." in names or name.startswith("/"):
            raise TemplateStopped(
                code="template.outside-root",
                what=f"{name} is outside of {self.contract.root}",
                why="templates are included by their path below overrides or config",
                fix="move the file into the tree, and use its path there",
            )
        path = "/".join(names)
        return next((files[path] for files in self.inputs if path in files), None)


def read_tree(top: Path, contract: Contract, problems: Problems, limits: Limits) -> TemplateTree:
    """Read the template tree of a repository; missing directories are empty."""
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
    """Yield all files in the order of makejinja; links to directories are not followed."""
    if not directory.is_dir():
        return
    entries = sorted(directory.glob("**/*"))
    yield from (path for path in entries if path.is_symlink() or path.is_file())


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
        why = getattr(error, "strerror", None) or "it is a link to itself"
        fix = "check that it is a readable file"
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
        what=f"{label} is a link to a file outside of the templates",
        where=label,
        why="templates must not read files outside of their tree",
        fix="replace the link with a copy of the file",
    )


def _too_many(contract: Contract, limits: Limits) -> Problem:
    return Problem(
        code="template.unreadable",
        what=f"{contract.root} has too many files",
        where=contract.root,
        why=f"it contains more than {limits.files:,} files",
        fix="keep only templates in it",
    )
