"""Write the files of an adopted cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from stockman.adapters import files
from stockman.app.init import problems
from stockman.app.init.directory import (
    DraftFiles,
    InitContext,
    InitOptions,
    StartedFile,
    init_directory,
)
from stockman.app.secrets.bundle import bundle_path
from stockman.app.secrets.keyring import find_keyring
from stockman.app.secrets.store import SecretStore
from stockman.assessment.adoption import problems as trouble
from stockman.assessment.adoption.description import Adoption
from stockman.model.errors import Conflict, StockmanError
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.starter.observed import CA_FILE


@record
class AdoptionResult:
    """What happened to each file."""

    files: tuple[StartedFile, ...]
    problems: Problems

    @property
    def complete(self) -> bool:
        return all(file.state != "refused" for file in self.files)


def refuse_existing(directory: Path) -> None:
    """Refuse a directory that already describes a cluster."""
    for name in ("cluster.yaml", "nodes.yaml", "cluster.toml", bundle_path("classic")):
        if files.path_exists(directory / name):
            raise Conflict(trouble.exists(directory / name))


def write_adoption(
    adoption: Adoption, directory: Path, context: InitContext, *, dry_run: bool = False
) -> AdoptionResult:
    """Write all files; create encryption keys as `stockman init` does."""
    refuse_existing(directory)
    extra = dict(adoption.draft.patches)
    if adoption.connection.ca is not None:
        extra[CA_FILE] = adoption.connection.ca
    for name in (*extra, *adoption.draft.secrets):
        if files.path_exists(directory / name):
            raise Conflict(trouble.exists(directory / name))
    bundle = adoption.bundle
    making = replace(context, make_bundle=lambda *_: bundle, keys=adoption.keys)
    init_options = InitOptions(
        directory=directory,
        preset="",
        dialect="classic",
        draft=DraftFiles(texts=adoption.draft.texts, extra_files=extra),
    )
    started = init_directory(init_options, making, dry_run=dry_run)
    try:
        sealed = tuple(_encrypt_bundle(directory, adoption, context, dry_run=dry_run))
    except OSError as error:
        why = error.strerror or type(error).__name__
        failed_path = str(error.filename or directory)
        raise StockmanError(problems.unwritable(failed_path, why)) from None
    return AdoptionResult(files=(*started.files, *sealed), problems=started.problems)


def _encrypt_bundle(
    directory: Path, adoption: Adoption, context: InitContext, *, dry_run: bool
) -> Iterator[StartedFile]:
    if adoption.draft.secrets and not dry_run:
        store = SecretStore(
            directory, find_keyring(directory, {}), {}, context.clock, context.entropy
        )
        for name, text in adoption.draft.secrets.items():
            store.create(name, text.reveal().encode())
    for name in adoption.draft.secrets:
        yield StartedFile(path=name, state="written")
