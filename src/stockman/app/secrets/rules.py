"""Find the SOPS creation rules of a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stockman.app.secrets import problems as trouble
from stockman.app.workspace.secret_names import SOPS_CONFIG
from stockman.crypto.sops.rules import CreationRule, SopsConfig, read_sops_config
from stockman.model.record import record

VARIABLE = "SOPS_CONFIG"
_MOST_PARENTS = 100


@record
class Rules:
    """A `.sops.yaml` and its location; its expressions match paths relative to it."""

    config: SopsConfig
    home: Path
    directory: Path

    def rule_for(self, name: str) -> CreationRule:
        """Return the first rule for a file, named relative to the workspace."""
        path = self.directory / name
        inside = path.is_relative_to(self.home)
        return self.config.rule_for(str(path.relative_to(self.home) if inside else path))


def find_rules(directory: Path, environment: Mapping[str, str]) -> Rules:
    """Return the rules in `SOPS_CONFIG`, or the nearest in the directory or above it."""
    root = directory.resolve()
    named = environment.get(VARIABLE, "")
    path = (root / named) if named else _nearest(root)
    if path is None:
        raise trouble.no_rules(str(directory))
    shown = named or (
        SOPS_CONFIG if path.parent == root else str(Path(*[".."] * _above(root, path), path.name))
    )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise trouble.unreadable_file(shown, error.strerror or type(error).__name__) from None
    return Rules(
        config=read_sops_config(content, shown), home=path.resolve().parent, directory=root
    )


def _nearest(root: Path) -> Path | None:
    for folder in (root, *root.parents)[:_MOST_PARENTS]:
        if (folder / SOPS_CONFIG).exists():
            return folder / SOPS_CONFIG
    return None


def _above(root: Path, folder: Path) -> int:
    return len(root.relative_to(folder.parent).parts)
