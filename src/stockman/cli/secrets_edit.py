"""`stockman secrets edit`: a secret file in the user's editor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from stockman.cli.command import command
from stockman.cli.complete import complete_secret_files
from stockman.cli.exit import Exit
from stockman.cli.screen import current
from stockman.cli.secret_work import open_store, warn

if TYPE_CHECKING:
    from stockman.model.problem import Problem


@command(
    name="edit",
    examples={
        "stockman secrets edit": "look at the secrets bundle of the cluster",
        "stockman secrets edit kubernetes/apps/default/echo/app/secret.sops.yaml": (
            "change a file, or make it by the rule for it"
        ),
        "stockman secrets edit cluster.yaml": "change secrets of the configuration",
    },
)
@click.argument("file", required=False, shell_complete=complete_secret_files)
@click.pass_context
def secrets_edit(ctx: click.Context, file: str | None) -> int:
    """Change a secret file in your editor.

    FILE is the secrets bundle unless given; one that does not exist yet is made by the rule of
    .sops.yaml for it. The editor is $SOPS_EDITOR, $VISUAL or $EDITOR, else vim, nano or vi. The
    text is in a file in memory (/dev/shm), never on a disk; where there is no such place, nothing
    is opened. An edit that cannot be encrypted is opened again. Values that stay keep their
    ciphertext, and a file that was not changed keeps every byte.
    """
    from stockman.adapters.editor import ProgramEditor
    from stockman.adapters.memory_files import memory_places
    from stockman.app.bundles import bundle_path
    from stockman.app.secret_editing import Desk, edit
    from stockman.app.secret_names import dialect_of, name_of

    store = open_store(ctx)
    warn(store.keyring.problems)
    given = file or bundle_path(dialect_of(store.directory))
    name = name_of(store.directory, given)
    places = memory_places(os.environ.get("XDG_RUNTIME_DIR", ""))
    outcome = edit(store, name, Desk(ProgramEditor(os.environ), places, _again))
    screen = current()
    if outcome == "abandoned":
        screen.complain([f"{name}: not changed, the edit was given up"])
        return Exit.FAILED
    screen.note(f"{name}: {outcome}")
    return Exit.DONE


def _again(problem: Problem) -> bool:
    """Show what is wrong with an edit; without a terminal the editor gets one more chance."""
    warn([problem])
    screen = current()
    if not screen.can_ask:
        return True
    answer = screen.prompt("Press Enter to go on with your text, or type q to give it up: ")
    return answer.strip().lower() not in ("q", "quit")
