"""`stockman secrets get`: what a secret file says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_secret_files
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.secrets.store import open_store, show_problems
from stockman.cli.terminal.screen import current_screen

if TYPE_CHECKING:
    from stockman.model.problem import Problem


@command(
    name="get",
    examples={
        "stockman secrets get talos/talsecret.sops.yaml -o name": "the keys of a file, no values",
        "stockman secrets get talos/talsecret.sops.yaml cluster.id": "one value",
        "stockman secrets get kubernetes/secret.sops.yaml 'stringData[\"tls.crt\"]'": (
            "a value whose key has a dot in it"
        ),
        "stockman secrets get kubernetes/secret.sops.yaml -o json": "the whole file for programs",
    },
)
@click.argument("file", shell_complete=complete_secret_files)
@click.argument("path", required=False)
@options.output_option((Output.TABLE, Output.JSON, Output.YAML, Output.NAME))
@click.pass_context
def secrets_get(ctx: click.Context, file: str, path: str | None, output: Output) -> int:
    """Print what a secret file says, or one value of it.

    PATH names one value: keys with dots between them, places in lists as [0], keys with dots in
    them as ["tls.crt"]. The check sum of the file is compared before anything is printed. With
    `-o name` the paths of all values are listed, and none of the values.
    """
    from stockman.app.secrets.values import paths_in, read_all, read_text_at, read_value_at
    from stockman.app.workspace.secret_names import relative_name

    store = open_store(ctx)
    show_problems(store.keyring.problems)
    name = relative_name(store.directory, file)
    if output is Output.NAME:
        for one in paths_in(store, name, path):
            current_screen().data(one)
    elif output is not Output.TABLE:
        data = read_value_at(store, name, path) if path else read_all(store, name)
        show(data, kind="Secret", output=output, human=lambda *_: ())
    elif path:
        text = read_text_at(store, name, path)
        current_screen().raw(text if text.endswith(b"\n") else text + b"\n")
    else:
        current_screen().raw(store.plaintext(name))
    return Exit.DONE


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
    from stockman.app.secrets.values import put_all, put_value
    from stockman.app.workspace.secret_names import relative_name

    store = open_store(ctx)
    show_problems(store.keyring.problems)
    name = relative_name(store.directory, file)
    if path is None:
        changed = put_all(store, name, _content(source, name))
    else:
        changed = put_value(store, name, path, _content(source, path), as_json=as_json)
    current_screen().note(f"{name}: {'written' if changed else 'unchanged'}")
    return Exit.DONE


def _content(source: Path | None, what: str) -> bytes:
    from stockman.app.secrets.values import value_from_file, value_from_stdin

    if source is not None:
        return value_from_file(source)
    screen = current_screen()
    if screen.can_ask:
        return screen.prompt_hidden(f"Value of {what}: ").encode()
    return value_from_stdin(screen.all_input())


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
    from stockman.adapters.programs import ProgramEditor
    from stockman.adapters.ram_files import ram_directories
    from stockman.app.secrets.bundle import bundle_path
    from stockman.app.secrets.editing import EditingContext, edit_secret
    from stockman.app.workspace.secret_names import dialect_of, relative_name

    store = open_store(ctx)
    show_problems(store.keyring.problems)
    given = file or bundle_path(dialect_of(store.directory))
    name = relative_name(store.directory, given)
    places = ram_directories(os.environ.get("XDG_RUNTIME_DIR", ""))
    outcome = edit_secret(
        store, name, EditingContext(ProgramEditor(os.environ), places, _edit_again)
    )
    screen = current_screen()
    if outcome == "abandoned":
        screen.complain([f"{name}: not changed, the edit was given up"])
        return Exit.FAILED
    screen.note(f"{name}: {outcome}")
    return Exit.DONE


def _edit_again(problem: Problem) -> bool:
    """Show what is wrong with an edit; without a terminal the editor gets one more chance."""
    show_problems([problem])
    screen = current_screen()
    if not screen.can_ask:
        return True
    answer = screen.prompt("Press Enter to go on with your text, or type q to give it up: ")
    return answer.strip().lower() not in ("q", "quit")
