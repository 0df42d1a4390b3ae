"""JSON schemas for editors, as text or written next to the files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from stockman.config.load import CLUSTER_TOML, CONFIG_FILES
from stockman.config.reference.schema import schema_for
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record


@record
class WrittenSchema:
    """A schema file and how an editor finds it."""

    file: str
    """The file that the schema describes."""
    path: Path
    line: str
    """Comment for the first line of that file."""
    changed: bool
    """False: the schema was already up to date."""


def schema_text(file: str) -> str:
    """Return the schema of a file as JSON text without a final newline."""
    return json.dumps(schema_for(file), indent=2)


def write_schemas(
    directory: Path, into: Path, files: Iterable[str] = CONFIG_FILES
) -> tuple[WrittenSchema, ...]:
    """Write schemas into a directory, which is created if needed; `directory` holds the files."""
    try:
        into.mkdir(parents=True, exist_ok=True)
        return tuple(_write_schema(directory, into, file) for file in files)
    except OSError as error:
        raise StockmanError(_unwritable_directory(into, error)) from None


def _write_schema(directory: Path, into: Path, file: str) -> WrittenSchema:
    path = into / _file_name(file)
    content = f"{schema_text(file)}\n".encode()
    changed = not path.is_file() or path.read_bytes() != content
    if changed:
        path.write_bytes(content)
    return WrittenSchema(file=file, path=path, line=_line(file, path, directory), changed=changed)


def _file_name(file: str) -> str:
    stem, _, suffix = file.rpartition(".")
    return f"{stem}.{suffix}.schema.json" if file == CLUSTER_TOML else f"{stem}.schema.json"


def _line(file: str, path: Path, directory: Path) -> str:
    resolved = path.resolve()
    base = directory.resolve()
    name = (
        f"./{resolved.relative_to(base).as_posix()}"
        if resolved.is_relative_to(base)
        else str(resolved)
    )
    return f"#:schema {name}" if file == CLUSTER_TOML else f"# yaml-language-server: $schema={name}"


def _unwritable_directory(into: Path, error: OSError) -> Problem:
    return Problem(
        code="schema.unwritable",
        what="the schemas cannot be written",
        where=str(error.filename or into),
        why=error.strerror or type(error).__name__,
        fix="give a directory that may be written with `--write`",
    )
