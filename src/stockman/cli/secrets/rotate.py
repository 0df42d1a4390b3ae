"""`stockman secrets rekey` and `rotate`: change recipients, data keys and Proxmox VE tokens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_secret_files
from stockman.cli.output import Output
from stockman.cli.plans.options import admin as admin_option
from stockman.cli.problems import show_problems
from stockman.cli.secrets.store import open_store, show_results

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.session import SessionContext
    from stockman.cli.plans.apply import ApplyRun


@command(
    name="rekey",
    examples={
        "stockman secrets rekey": "update the recipients of all secret files",
        "stockman secrets rekey --dry-run": (
            "list the files that would change; exits with status 2 if there are any"
        ),
    },
)
@click.argument("files", nargs=-1, metavar="[FILE]...", shell_complete=complete_secret_files)
@click.option("--dry-run", is_flag=True, help="Change nothing; list the files that would change.")
@options.output_or_name
@click.pass_context
def secrets_rekey(ctx: click.Context, files: tuple[str, ...], dry_run: bool, output: Output) -> int:
    """Encrypt secret files for the recipients in .sops.yaml.

    All secret files are updated unless files are named. The values keep their ciphertext, as with
    `sops updatekeys`: a removed recipient can still read old versions of the file and values
    already seen. Use `secrets rotate` afterwards to change the data key too.
    """
    from stockman.app.secrets.values import rekey_all

    store = open_store(ctx)
    show_problems(store.keyring.problems)
    return show_results(rekey_all(store, files, dry_run=dry_run), output, dry_run=dry_run)


_PROXMOX = "proxmox"


@command(
    name="rotate",
    examples={
        "stockman secrets rotate": "rotate the data keys of all secret files",
        "stockman secrets rekey && stockman secrets rotate": (
            "remove a recipient and rotate the data keys"
        ),
        "stockman secrets rotate proxmox --push": "rotate all Proxmox VE tokens",
        "stockman secrets rotate proxmox --token proxmox-csi": "rotate the token of one component",
    },
)
@click.argument("files", nargs=-1, metavar="[FILE]...", shell_complete=complete_secret_files)
@click.option(
    "--token",
    "tokens",
    multiple=True,
    metavar="NAME",
    help="With proxmox: rotate only the token of this component, of stockman, or with this "
    "ID; can be repeated.",
)
@click.option("--push", is_flag=True, help="With proxmox: commit and push rendered files.")
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
    """Rotate the data keys of secret files, or Proxmox VE tokens.

    All secret files are re-encrypted with new data keys unless files are named. Recipients and
    values stay the same; the ciphertext changes. Holders of an old data key cannot read later
    versions of the files. Replace secrets that they have already read.

    With the word proxmox, an administrator creates a second token for each user that has one. The
    new token is tested, stored, and rendered for components, whose pods restart; the old token is
    deleted when all users have the new one. Resume an interrupted run with `stockman runs resume`.
    """
    if files[:1] == (_PROXMOX,):
        return _rotate_tokens(ctx, tokens, push=push, admin=admin, yes=yes, output=output)
    from stockman.app.secrets.values import rotate_all

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
    from stockman.cli.plans.apply import ApplyRun
    from stockman.cli.plans.options import login

    workspace = options.session_context(ctx)
    applying = ApplyRun(workspace, output, yes=yes)
    return asyncio.run(
        _rotate_with_login(applying, workspace, tokens, push=push, admin=login(admin))
    )


async def _rotate_with_login(
    applying: ApplyRun,
    workspace: SessionContext,
    tokens: tuple[str, ...],
    *,
    push: bool,
    admin: Login | None,
) -> int:
    from stockman.app.runs.apply import plan_token_rotation
    from stockman.app.runs.session import open_session

    async with open_session(workspace, admin) as session:
        return await applying.run_planned(
            session, await plan_token_rotation(session, tokens, push=push)
        )
