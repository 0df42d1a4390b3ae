"""Migrate a machine configuration, or the patches of a directory, to a newer contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stockman.app.workspace.directory import load_directory, unreadable_file
from stockman.app.workspace.machine_patches import PatchFiles
from stockman.app.workspace.private_files import write_private
from stockman.app.workspace.validation import load_desired
from stockman.config.source.tree import MAX_BYTES, Unreadable, decode_text, to_plain_data
from stockman.model.desired import Desired
from stockman.model.errors import Refused, StockmanError
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.ports.system import Entropy
from stockman.talos.go_yaml import dump
from stockman.talos.migration.draft import (
    CONTRACTS,
    ConfigEdit,
    contract_path,
    detect_contract,
    mask_edit,
    mask_value,
    parse_contract,
)
from stockman.talos.migration.migrate import (
    Migration,
    MigrationOptions,
    migrate_configuration,
    plan_patch_edits,
)
from stockman.talos.patches.apply import load_documents, read_patch
from stockman.talos.patches.decode import ConfigDocument
from stockman.talos.patches.patch import Patch, PatchRefused, read_documents
from stockman.talos.patches.schema import Branch, plain_value


@record
class ShownEdit:
    """One edit for display, with secrets masked."""

    document: str
    path: str
    """Empty: the whole document."""
    before: object
    """None: there was no value."""
    after: object
    """None: the value is removed."""
    reason: str
    since: str
    nature: str
    where: str
    """File, line and column of the change. Empty: it is new."""


@record
class MigratedPart:
    """Changes of one machine configuration, patch or key."""

    label: str
    edits: tuple[ShownEdit, ...]
    new_text: str = ""
    """The migrated patch without secrets. Empty: not a patch, or unchanged."""


@record
class MigrationPlan:
    """All changes that a newer contract requires."""

    source: str
    target: str
    parts: tuple[MigratedPart, ...]
    problems: tuple[Problem, ...]

    @property
    def changes(self) -> bool:
        return any(migrated.edits for migrated in self.parts)


def migrate_file(
    path: Path, target: str, choices: MigrationOptions
) -> tuple[MigrationPlan, Migration]:
    """Migrate a machine configuration to a newer contract."""
    line = parse_contract(target)
    migration = migrate_configuration(_documents(path, line), line, choices)
    migrated = MigratedPart(
        label=str(path), edits=tuple(_mask_edit(edit) for edit in migration.edits)
    )
    plan = MigrationPlan(
        source=migration.source, target=line, parts=(migrated,), problems=migration.warnings
    )
    return plan, migration


def _documents(path: Path, line: str) -> tuple[ConfigDocument, ...]:
    text = _text(path)
    try:
        return load_documents(str(path), text, line)
    except PatchRefused:
        if line == CONTRACTS[-1]:
            raise
        newer = load_documents(str(path), text, CONTRACTS[-1])
        contract_path(detect_contract(newer), line)
        raise


def write_migration(path: Path, migration: Migration, entropy: Entropy) -> Path:
    """Write the new configuration next to the old one, which is kept; it contains secrets."""
    target = path.with_name(f"{path.stem}.{migration.target}{path.suffix}")
    text = "---\n".join(dump(_mapping(document.canonical())) for document in migration.documents)
    write_private(target, text.encode(), entropy)
    return target


def migrate_directory(directory: Path, target: str) -> MigrationPlan:
    """Return the changes that a newer contract requires in the files of a directory."""
    line = parse_contract(target)
    desired = load_desired(directory)
    if desired.cluster is None:
        raise Refused(no_cluster(directory))
    source = desired.cluster.talos.contract.minor_text
    contract_path(source, line)
    migrated = [_key(desired, source, line)] if source != line else []
    problems: list[Problem] = []
    for patch, for_workers in _patches(directory, desired):
        edits = plan_patch_edits(patch.label, read_patch(patch), line, for_workers=for_workers)
        problems += edits.warnings
        if edits.edits:
            shown = tuple(_mask_edit(edit) for edit in edits.edits)
            migrated.append(
                MigratedPart(label=patch.label, edits=shown, new_text=_safe(edits.text))
            )
    return MigrationPlan(
        source=source, target=line, parts=tuple(migrated), problems=tuple(problems)
    )


def _key(desired: Desired, source: str, target: str) -> MigratedPart:
    talos = desired.cluster.talos if desired.cluster is not None else None
    origin = talos.where("contract") if talos is not None else None
    is_written = origin is not None and not origin.is_derived
    edit = ShownEdit(
        document=origin.at.file if origin is not None and is_written else "cluster.yaml",
        path=origin.name if origin is not None and is_written else "talos.contract",
        before=source if is_written else None,
        after=target,
        reason="machine configurations are written in this style",
        since=target,
        nature="moved",
        where=str(origin.at) if origin is not None and is_written else "",
    )
    return MigratedPart(label="talos.contract", edits=(edit,))


def _patches(directory: Path, desired: Desired) -> Iterator[tuple[Patch, bool]]:
    """Yield every patch with its location, and whether workers get it."""
    loaded = load_directory(directory)
    problems = Problems()
    files = PatchFiles(directory, loaded, problems)
    patches = files.patches(desired)
    for problem in problems.errors:
        raise Refused(problem)
    workers = [node for node in desired.nodes if not node.is_controller]
    if desired.cluster is None:
        return
    reached = {patch: None for node in workers for patch in patches.of(node, desired.cluster)}
    for patch in patches.each():
        yield patch, patch in reached


def _mask_edit(edit: ConfigEdit) -> ShownEdit:
    safe = mask_edit(edit)
    return ShownEdit(
        document=safe.document,
        path=safe.path,
        before=safe.before,
        after=safe.after,
        reason=safe.reason,
        since=safe.since,
        nature=safe.nature.value,
        where="" if edit.origin is None else str(edit.origin.at),
    )


def _safe(text: str) -> str:
    """Return the text of a patch with its secrets masked."""
    documents = [mask_value(to_plain_data(node)) for node in read_documents("", text)]
    return "---\n".join(dump(document) for document in documents if isinstance(document, dict))


def _mapping(tree: Branch) -> dict[str, object]:
    value = plain_value(tree)
    return value if isinstance(value, dict) else {}


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return decode_text(str(path), file.read(MAX_BYTES + 1))
    except Unreadable as unreadable:
        raise StockmanError(unreadable.problem) from None
    except OSError as error:
        raise unreadable_file(path, error) from None


def no_cluster(directory: Path) -> Problem:
    return Problem(
        code="migration.no-cluster",
        what="there is no cluster whose contract could change",
        where=str(directory),
        why="the files describe machines without Talos",
        fix="name a machine configuration: `stockman config migrate --to 1.14 FILE`",
    )
