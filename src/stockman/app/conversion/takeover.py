"""Read the directory of another Talos tool, without running that tool."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from stockman.app.conversion import problems as trouble
from stockman.app.conversion.convert import Conversion, Dialect
from stockman.config.classic import CLASSIC_KEYS, repository_address
from stockman.config.convert.output import TALCONFIG, TOPF, SourceFormat
from stockman.config.source.tree import MAX_BYTES
from stockman.model.errors import NotFound, StockmanError, WrongUsage
from stockman.model.record import record
from stockman.talos.imports.adoption import Platform, adopt_cluster
from stockman.talos.imports.files import ReadFile
from stockman.talos.imports.foreign import ForeignCluster
from stockman.talos.imports.talhelper.directory import read_talhelper_directory
from stockman.talos.imports.talhelper.variables import Variables
from stockman.talos.imports.topf import read_topf_directory


@record
class TakeoverOptions:
    """Options of the user besides the directory."""

    keys: dict[str, str] = field(default_factory=dict)
    """Values of keys that the other tool does not have, by path or by classic name."""
    variables: dict[str, str] = field(default_factory=dict)
    """Values of variables in the directory's files."""
    platform: Platform = "nocloud"


def take_over(
    source: Path, form: SourceFormat, to: Dialect, options: TakeoverOptions
) -> Conversion:
    """Convert a directory of another tool into one of our dialects, without writing it."""
    directory = source.parent if source.is_file() else source
    name = TALCONFIG if form == "talhelper" else TOPF
    if not (directory / name).is_file():
        raise NotFound(trouble.no_tool(directory, name))
    result = adopt_cluster(
        _read_foreign(directory, form, options),
        to_toml=to == "toml",
        values={_path(key): _value(key, value) for key, value in options.keys.items()},
        platform=options.platform,
    )
    # Problems show no lines of the source, because every file may contain secrets.
    return Conversion(
        source=source, form=form, to=to, result=result, texts={}, redact=lambda line: line
    )


def _read_foreign(directory: Path, form: SourceFormat, options: TakeoverOptions) -> ForeignCluster:
    read = _reader(directory)
    if form == "talhelper":
        return read_talhelper_directory(read, Variables(values=options.variables))
    return read_topf_directory(read, lambda under: _list_files(directory, under))


def _path(key: str) -> str:
    path = CLASSIC_KEYS.get(key, key)
    if "." not in path or "[" in path:
        raise WrongUsage(trouble.no_such_key(key))
    return path


def _value(key: str, value: str) -> str:
    """Return the value of a classic key; the short name of a repository becomes its URL."""
    if key == "repository_name":
        return repository_address(value, private=False) or value
    if key == "cloudflare_enabled":
        return "none" if value == "false" else "cloudflare"
    return value


def _reader(directory: Path) -> ReadFile:
    def read(name: str) -> bytes | None:
        path = directory / name
        try:
            with path.open("rb") as file:
                return file.read(MAX_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StockmanError(trouble.unreadable(path, error)) from None

    return read


def _list_files(directory: Path, under: str) -> list[str]:
    """List files below a directory in the order in which Go walks them."""
    names: list[str] = []
    try:
        entries = sorted((directory / under).iterdir(), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StockmanError(trouble.unreadable(directory / under, error)) from None
    for entry in entries:
        name = f"{under}/{entry.name}"
        names += _list_files(directory, name) if entry.is_dir() else [name]
    return names
