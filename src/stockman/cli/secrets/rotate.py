"""`stockman secrets rekey`: the recipients that the rules name."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_secret_files
from stockman.cli.output import Output
from stockman.cli.plans.options import admin as admin_option
from stockman.cli.secrets.store import open_store, show_problems, show_results

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.session import SessionContext
    from stockman.cli.plans.apply import ApplyRun


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
    from stockman.app.secrets.batch import rekey_all

    store = open_store(ctx)
    show_problems(store.keyring.problems)
    return show_results(rekey_all(store, files, dry_run=dry_run), output, dry_run=dry_run)


_PROXMOX = "proxmox"


@command(
    name="rotate",
    examples={
        "stockman secrets rotate": "new data keys for all secret files",
        "stockman secrets rekey && stockman secrets rotate": (
            "take away what a former recipient could still read"
        ),
        "stockman secrets rotate proxmox --push": "new tokens of Proxmox VE for all who have one",
        "stockman secrets rotate proxmox --token proxmox-csi": "a new token for one component",
    },
)
@click.argument("files", nargs=-1, metavar="[FILE]...", shell_complete=complete_secret_files)
@click.option(
    "--token",
    "tokens",
    multiple=True,
    metavar="NAME",
    help="With proxmox: only the token of this component, of stockman, or of this id; may be given"
    " again.",
)
@click.option("--push", is_flag=True, help="With proxmox: commit what was rendered, and push it.")
@admin_option
@options.yes_option
@options.output_or_name
@click.pass_context
def secrets_rotate(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    files: tuple[str, ...],
    tokens: tuple[str, ...],
    push: bool,
    admin: str | None,
    yes: bool,
    output: Output,
) -> int:
    """Encrypt secret files with new data keys, or renew tokens of Proxmox VE.

    All secret files are taken unless some are named. Recipients stay; values stay, and all their
    ciphertext changes. Whoever had the old data key cannot read what is written from now on; what
    they have read already has to be replaced with new secrets.

    With the word proxmox, an administrator makes a second token for everybody who has one. It is
    tried and kept, and rendered for components, whose pods begin anew; the old one goes when the
    new one has reached whoever uses it. A run that ends in between is gone on with by `stockman
    runs resume`.
    """
    if files[:1] == (_PROXMOX,):
        return _rotate_tokens(ctx, tokens, push=push, admin=admin, yes=yes, output=output)
    from stockman.app.secrets.batch import rotate_all

    store = open_store(ctx)
    show_problems(store.keyring.problems)
    return show_results(rotate_all(store, files), output)


def _rotate_tokens(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    tokens: tuple[str, ...],
    *,
    push: bool,
    admin: str | None,
    yes: bool,
    output: Output,
) -> int:
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.session import SessionContext
    from stockman.cli.plans.apply import ApplyRun
    from stockman.cli.plans.options import login

    place = SessionContext(
        directory=options.directory(ctx),
        environment=os.environ,
        clock=SystemTimekeeper(),
        entropy=SystemEntropy(),
    )
    applying = ApplyRun(place, output, yes=yes)
    return asyncio.run(_rotate_with_login(applying, place, tokens, push=push, admin=login(admin)))


async def _rotate_with_login(
    applying: ApplyRun,
    place: SessionContext,
    tokens: tuple[str, ...],
    *,
    push: bool,
    admin: Login | None,
) -> int:
    from stockman.app.runs.session import open_session
    from stockman.app.runs.token_rotation import plan_token_rotation

    async with open_session(place, admin) as session:
        return await applying.decided(
            session, await plan_token_rotation(session, tokens, push=push)
        )
