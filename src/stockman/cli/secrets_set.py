"""`stockman secrets set`: one value of a secret file, or all of it."""

from __future__ import annotations

from pathlib import Path

import click

from stockman.cli.command import command
from stockman.cli.complete import complete_secret_files
from stockman.cli.exit import Exit
from stockman.cli.screen import current
from stockman.cli.secret_work import open_store, warn


@command(
    name="set",
    examples={
        "stockman secrets set cluster.yaml cloudflare_token": "type a value, which is not shown",
        "stockman secrets set kubernetes/secret.sops.yaml stringData.token < token.txt": (
            "read it from stdin"
        ),
        "stockman secrets set kubernetes/secret.sops.yaml data.key --from-file tls.key": (
            "take it from a file"
        ),
        "stockman secrets set talos/extra.sops.yaml --from-file talos/extra.sops.yaml": (
            "encrypt a whole file in place"
        ),
    },
)
@click.argument("file", shell_complete=complete_secret_files)
@click.argument("path", required=False)
@click.option(
    "--from-file",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Take the value from this file instead of stdin.",
)
@click.option("--json", "as_json", is_flag=True, help="Read the value as JSON: 3, true or a text.")
@click.pass_context
def secrets_set(
    ctx: click.Context, file: str, path: str | None, source: Path | None, as_json: bool
) -> int:
    """Put one value into a secret file, or give it new content.

    PATH is written as for `secrets get`; keys that do not exist are added. Without PATH the whole
    content of the file is given. The value comes from stdin, from --from-file or, on a terminal,
    from a question that does not show what is typed; never from the command line, which others can
    see. The line break behind a value of one line is not part of it. A file that does not exist
    is made by the rule of .sops.yaml for it.
    """
    from stockman.app.secret_names import name_of
    from stockman.app.secret_values import put_all, put_value

    store = open_store(ctx)
    warn(store.keyring.problems)
    name = name_of(store.directory, file)
    if path is None:
        changed = put_all(store, name, _content(source, name))
    else:
        changed = put_value(store, name, path, _content(source, path), as_json=as_json)
    current().note(f"{name}: {'written' if changed else 'unchanged'}")
    return Exit.DONE


def _content(source: Path | None, what: str) -> bytes:
    from stockman.app.secret_values import given_value, read_value

    if source is not None:
        return read_value(source)
    screen = current()
    if screen.can_ask:
        return screen.prompt_hidden(f"Value of {what}: ").encode()
    return given_value(screen.all_input())
