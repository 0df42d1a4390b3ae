"""`stockman secrets rekey`: the recipients that the rules name."""

from __future__ import annotations

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.complete import complete_secret_files
from stockman.cli.output import Output
from stockman.cli.secret_work import open_store, tell, warn


@command(
    name="rekey",
    examples={
        "stockman secrets rekey": "bring all secret files to the recipients of .sops.yaml",
        "stockman secrets rekey --dry-run": "see which files would change; exits with 2 if any",
    },
)
@click.argument("files", nargs=-1, metavar="[FILE]...", shell_complete=complete_secret_files)
@click.option("--dry-run", is_flag=True, help="Change nothing, tell what would change.")
@options.output_or_name
@click.pass_context
def secrets_rekey(ctx: click.Context, files: tuple[str, ...], dry_run: bool, output: Output) -> int:
    """Encrypt secret files for the recipients that .sops.yaml names.

    All secret files are taken unless some are named. The values keep their ciphertext, as with
    `sops updatekeys`: a recipient that is taken away can still read what it has seen, and the
    file as it was. `secrets rotate` afterwards changes the data key too.
    """
    from stockman.app.secret_rounds import rekey_all

    store = open_store(ctx)
    warn(store.keyring.problems)
    return tell(rekey_all(store, files, dry_run=dry_run), output, dry_run=dry_run)
