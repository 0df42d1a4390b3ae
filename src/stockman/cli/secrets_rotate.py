"""`stockman secrets rotate`: new data keys, and new tokens of Proxmox VE."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.complete import complete_secret_files
from stockman.cli.output import Output
from stockman.cli.plan_options import admin as admin_option
from stockman.cli.secret_work import open_store, tell, warn

if TYPE_CHECKING:
    from stockman.adapters.http_proxmox.credentials import Login
    from stockman.app.session import Place
    from stockman.cli.apply import Applying

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
@options.yes
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
        return _tokens(ctx, tokens, push=push, admin=admin, yes=yes, output=output)
    from stockman.app.secret_rounds import rotate_all

    store = open_store(ctx)
    warn(store.keyring.problems)
    return tell(rotate_all(store, files), output)


def _tokens(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    tokens: tuple[str, ...],
    *,
    push: bool,
    admin: str | None,
    yes: bool,
    output: Output,
) -> int:
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.session import Place
    from stockman.cli.apply import Applying
    from stockman.cli.plan_options import login

    place = Place(
        directory=options.directory(ctx),
        environment=os.environ,
        clock=SystemTimekeeper(),
        entropy=SystemEntropy(),
    )
    applying = Applying(place, output, yes=yes)
    return asyncio.run(_renewed(applying, place, tokens, push=push, admin=login(admin)))


async def _renewed(
    applying: Applying, place: Place, tokens: tuple[str, ...], *, push: bool, admin: Login | None
) -> int:
    from stockman.app.rotating import rotation_plan
    from stockman.app.session import opened_session

    async with opened_session(place, admin) as session:
        return await applying.decided(session, await rotation_plan(session, tokens, push=push))
