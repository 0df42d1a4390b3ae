"""Whether components that are on can be rendered: told from the configuration alone."""

from __future__ import annotations

from pathlib import Path

from stockman.config.load import Loaded
from stockman.config.resolve import resolve
from stockman.model.problem import Problems
from stockman.model.secret import Secret


def check_components(directory: Path, loaded: Loaded) -> None:
    """Add to the problems of loaded files what components find wrong with them.

    Files that lie beside the configuration are taken to be there: rendering looks at them.
    """
    if not loaded.estate.nodes:
        return
    from stockman.app.secret_names import dialect_of
    from stockman.catalog.scene import Materials, Tunnel
    from stockman.catalog.selection import selected

    desired = resolve(loaded)
    if desired.cluster is None:
        return
    presumed = Materials(
        age_recipient="",
        age_identity=Secret(""),
        tunnel=Tunnel(id="", token=Secret("")),
        proxmox_authorities={str(one.region): "" for one in desired.proxmox},
    )
    found = Problems()
    selected(desired, desired.cluster, presumed, dialect_of(directory), found)
    known = {(one.code, one.where) for one in loaded.problems}
    loaded.problems.extend(one for one in found if (one.code, one.where) not in known)
