"""Read the configuration files of a directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stockman.config.load import CONFIG_FILES, LoadedConfig, load
from stockman.config.source.tree import MAX_BYTES
from stockman.model.errors import NotFound, StockmanError
from stockman.model.problem import Problem

if TYPE_CHECKING:
    from stockman.app.versions import Pins


def read_directory(directory: Path) -> dict[str, bytes]:
    """Return existing configuration files by name; an unreadable file is an error."""
    if not directory.is_dir():
        raise NotFound(
            Problem(
                code="workspace.no-directory",
                what=f"{directory} is not a directory",
                where=str(directory),
                why="configuration is read from a directory",
                fix="give an existing directory with `-C`",
            )
        )
    contents: dict[str, bytes] = {}
    for name in CONFIG_FILES:
        try:
            with (directory / name).open("rb") as file:
                contents[name] = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise unreadable_file(directory / name, error) from None
    return contents


def load_directory(directory: Path) -> LoadedConfig:
    """Load the files of a directory."""
    return load(read_directory(directory))


def pins(directory: Path) -> Pins:
    """Return the versions pinned in the files of a directory; empty without files."""
    from stockman.app.versions import Pins

    estate = load_directory(directory).configuration
    return Pins(
        talos=estate.talos.version,
        kubernetes=estate.kubernetes.version,
        proxmox=estate.proxmox.version if estate.proxmox is not None else None,
        components={
            name: component.version
            for name, component in estate.components.items()
            if component.version is not None
        },
    )


def unreadable_file(path: Path, error: OSError) -> StockmanError:
    """Return the error for a file of the user that cannot be read."""
    return StockmanError(
        Problem(
            code="workspace.unreadable",
            what=f"{path.name} cannot be read",
            where=str(path),
            why=error.strerror or type(error).__name__,
            fix="check that it is a file and its permissions",
        )
    )
