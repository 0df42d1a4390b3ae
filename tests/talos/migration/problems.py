"""Every problem of migrations, made by input that its page is compared with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stockman.app.machine_config.migration import no_cluster
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.talos.migration.draft import contract_path, parse_contract
from stockman.talos.migration.migrate import migrate_configuration, plan_patch_edits
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.patch import read_documents
from tests.model.page_files import shown


def refused(call: Callable[[], object]) -> Problem:
    with pytest.raises(StockmanError) as caught:
        call()
    return caught.value.problem


def warned(code: str) -> Problem:
    """The warning about the configuration that its page shows."""
    documents = load_documents("node.yaml", shown(code), "1.14")
    (only,) = [
        warning
        for warning in migrate_configuration(documents, "1.14").warnings
        if warning.code == code
    ]
    return only


def patch(code: str) -> Problem:
    """What is said of the patch that its page shows."""
    nodes = read_documents("patch.yaml", shown(code))
    (only,) = plan_patch_edits("patch.yaml", nodes, "1.14", for_workers=True).warnings
    return only


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "migration.changed": lambda: warned("migration.changed"),
    "migration.contract": lambda: refused(lambda: parse_contract("1.10")),
    "migration.delete": lambda: patch("migration.delete"),
    "migration.downward": lambda: refused(lambda: contract_path("1.14", "1.12")),
    "migration.kept": lambda: warned("migration.kept"),
    "migration.no-cluster": lambda: no_cluster(Path("meadow")),
    "migration.workers": lambda: patch("migration.workers"),
}
