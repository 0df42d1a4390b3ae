"""Whether all patches apply to every node and Talos takes the result: tried without secrets."""

from __future__ import annotations

from pathlib import Path

from stockman.app.machine_configuration_patches import PatchFiles
from stockman.config.load import Loaded
from stockman.config.resolve import resolve
from stockman.model.errors import StockmanError
from stockman.model.problem import Problems


def check_patches(directory: Path, loaded: Loaded) -> dict[str, str]:
    """Add to the problems of loaded files those of patches; the texts of patch files by name.

    No secret is needed: what stands for the bundle holds nothing, and never leaves the memory.
    Without patches nothing is done at all.
    """
    files = PatchFiles(directory, loaded, loaded.problems)
    if not loaded.estate.nodes or not (loaded.kept or files.has_directories):
        return {}
    from stockman.app.machine_files import machine_files
    from stockman.talos.machine.assembly import Assembly, mode_of
    from stockman.talos.machine.assembly_patches import check_owned
    from stockman.talos.machine.assembly_stand_in import stand_in_bundle

    desired = resolve(loaded)
    patches = files.patches(desired)
    check_owned(patches, loaded.problems)
    if loaded.problems.errors or patches.is_empty:
        return files.texts
    found = Problems()
    try:
        texts = machine_files(directory, desired)
        assembly = Assembly(desired, stand_in_bundle(), patches, texts)
        for node in desired.nodes:
            of_node = Problems()
            assembled = assembly.of(node, of_node)
            if not of_node.errors:
                of_node.extend(assembled.judged(mode_of(desired)))
            found.extend(of_node)
    except StockmanError as error:
        found.add(error.problem)
    loaded.problems.extend(found)
    return files.texts
