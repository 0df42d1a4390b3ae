"""`stockman secrets rotate`: new data keys."""

from __future__ import annotations

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.complete import complete_secret_files
from stockman.cli.output import Output
from stockman.cli.secret_work import open_store, tell, warn


@command(
    name="rotate",
    examples={
        "stockman secrets rotate": "new data keys for all secret files",
        "stockman secrets rekey && stockman secrets rotate": (
            "take away what a former recipient could still read"
        ),
    },
)
@click.argument("files", nargs=-1, metavar="[FILE]...", shell_complete=complete_secret_files)
@options.output_or_name
@click.pass_context
def secrets_rotate(ctx: click.Context, files: tuple[str, ...], output: Output) -> int:
    """Encrypt secret files with new data keys.

    All secret files are taken unless some are named. Recipients stay; values stay, and all their
    ciphertext changes. Whoever had the old data key cannot read what is written from now on; what
    they have read already has to be replaced with new secrets.
    """
    from stockman.app.secret_rounds import rotate_all

    store = open_store(ctx)
    warn(store.keyring.problems)
    return tell(rotate_all(store, files), output)
