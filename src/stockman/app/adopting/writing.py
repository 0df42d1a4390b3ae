"""The files of an adopted cluster, written where nothing of theirs stands yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from stockman.adapters import new_files
from stockman.app import initialisation_problems
from stockman.app.adopting import problems as trouble
from stockman.app.adopting.adoption import Adoption
from stockman.app.bundles import bundle_path
from stockman.app.initialisation import Doors, Drafted, StartedFile, Wish, start
from stockman.app.keyring import find_keyring
from stockman.app.secret_store import SecretStore
from stockman.model.errors import Conflict, StockmanError
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.starter.reached import CA_FILE


@record
class Written:
    """What became of the files."""

    files: tuple[StartedFile, ...]
    problems: Problems

    @property
    def complete(self) -> bool:
        return all(one.state != "refused" for one in self.files)


def refuse_existing(directory: Path) -> None:
    """Refuse a directory in which a cluster is described already."""
    for name in ("cluster.yaml", "nodes.yaml", "cluster.toml", bundle_path("classic")):
        if new_files.exists(directory / name):
            raise Conflict(trouble.exists(directory / name))


def write(adoption: Adoption, directory: Path, doors: Doors, *, dry_run: bool = False) -> Written:
    """Write everything; keys for encryption are made as `stockman init` makes them."""
    refuse_existing(directory)
    extra = dict(adoption.draft.patches)
    if adoption.reached.ca is not None:
        extra[CA_FILE] = adoption.reached.ca
    for name in (*extra, *adoption.draft.secrets):
        if new_files.exists(directory / name):
            raise Conflict(trouble.exists(directory / name))
    bundle = adoption.bundle
    making = replace(doors, make_bundle=lambda *_: bundle, keys=adoption.keys)
    wish = Wish(
        directory=directory,
        preset="",
        dialect="classic",
        drafted=Drafted(texts=adoption.draft.texts, beside=extra),
    )
    started = start(wish, making, dry_run=dry_run)
    try:
        sealed = tuple(_sealed(directory, adoption, doors, dry_run=dry_run))
    except OSError as error:
        why = error.strerror or type(error).__name__
        place = str(error.filename or directory)
        raise StockmanError(initialisation_problems.unwritable(place, why)) from None
    return Written(files=(*started.files, *sealed), problems=started.problems)


def _sealed(
    directory: Path, adoption: Adoption, doors: Doors, *, dry_run: bool
) -> Iterator[StartedFile]:
    if adoption.draft.secrets and not dry_run:
        store = SecretStore(directory, find_keyring(directory, {}), {}, doors.clock, doors.entropy)
        for name, text in adoption.draft.secrets.items():
            store.create(name, text.reveal().encode())
    for name in adoption.draft.secrets:
        yield StartedFile(path=name, state="written")
