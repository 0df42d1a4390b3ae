"""Write machine configurations to a directory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stockman.adapters.files import create_file
from stockman.adapters.git.probe import LocalGitProbe
from stockman.app.machine_config.machines import Machines
from stockman.app.workspace import machine_patches as trouble
from stockman.model.desired import Node
from stockman.model.errors import Refused, StockmanError
from stockman.talos.machine.assembly import trees_text

_PRIVATE = 0o700


def write_configurations(
    machines: Machines, nodes: Iterable[Node], directory: Path, *, tag: str, show_secrets: bool
) -> int:
    """Write one private file per node; return the number of files.

    Files of an earlier run are replaced. If files with secrets would be tracked by git, nothing is
    written.
    """
    texts = {
        f"{node.name}.yaml": trees_text(machines.documents(node, show_secrets=show_secrets))
        for node in nodes
    }
    try:
        directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        if show_secrets:
            _check_exposure(directory, texts)
        for name, text in texts.items():
            draft = directory / f".{name}.draft"
            draft.unlink(missing_ok=True)
            create_file(draft, text.encode(), private=True, tag=tag)
            draft.replace(directory / name)
    except OSError as error:
        failed_path = directory if error.filename is None else Path(error.filename)
        raise StockmanError(trouble.unwritable_configuration(failed_path, error)) from None
    return len(texts)


def _check_exposure(directory: Path, names: Iterable[str]) -> None:
    repository = LocalGitProbe(directory)
    for name in names:
        if repository.exposure(name) == "tracked":
            raise Refused(trouble.configuration_in_git(directory / name))
