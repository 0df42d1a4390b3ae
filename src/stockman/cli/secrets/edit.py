"""`stockman secrets create`, `get`, `set` and `edit`: create, read and change secret files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_secret_files
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import show_problems
from stockman.cli.secrets.store import new_bundle, open_store
from stockman.cli.terminal.screen import current_screen

if TYPE_CHECKING:
    from stockman.model.problem import Problem


@command(
    name="get",
    examples={
        "stockman secrets get talos/talsecret.sops.yaml -o name": (
            "list the paths of a file, without values"
        ),
        "stockman secrets get talos/talsecret.sops.yaml cluster.id": "print one value",
        "stockman secrets get kubernetes/secret.sops.yaml 'stringData[\"tls.crt\"]'": (
            "print a value whose key contains a dot"
        ),
        "stockman secrets get kubernetes/secret.sops.yaml -o json": "print the whole file as JSON",
    },
)
@click.argument("file", shell_complete=complete_secret_files)
@click.argument("path", required=False)
@options.output_option((Output.TABLE, Output.JSON, Output.YAML, Output.NAME))
@click.pass_context
def secrets_get(ctx: click.Context, file: str, path: str | None, output: Output) -> int:
    """Print a secret file, or one of its values.

    PATH selects one value: keys separated by dots, list positions as [0], keys that contain dots as
    ["tls.crt"]. The checksum of the file is verified first. With `-o name` the paths of all values
    are listed, without the values.
    """
    from stockman.app.secrets.values import paths_in, read_all, read_text_at, read_value_at
    from stockman.app.workspace.secret_names import relative_name

    store = open_store(ctx)
    show_problems(store.keyring.problems)
    name = relative_name(store.directory, file)
    if output is Output.NAME:
        for value_path in paths_in(store, name, path):
            current_screen().data(value_path)
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
        "stockman secrets set cluster.yaml cloudflare_token": (
            "prompt for a value without echoing it"
        ),
        "stockman secrets set kubernetes/secret.sops.yaml stringData.token < token.txt": (
            "read the value from stdin"
        ),
        "stockman secrets set kubernetes/secret.sops.yaml data.key --from-file tls.key": (
            "read the value from a file"
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
    help="Read the value from this file instead of stdin.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Parse the value as JSON: 3, true or a string."
)
@click.pass_context
def secrets_set(
    ctx: click.Context, file: str, path: str | None, source: Path | None, as_json: bool
) -> int:
    """Set a value of a secret file, or its whole content.

    PATH has the same form as for `secrets get`; missing keys are added. Without PATH, the value is
    the whole content of the file. The value is read from stdin, from --from-file, or from a prompt
    that does not echo; it is never given on the command line, where other users could see it. The
    line break after a single-line value is removed. A file that does not exist is created by its
    rule in .sops.yaml.
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


def _content(source: Path | None, prompt: str) -> bytes:
    from stockman.app.secrets.values import value_from_file, value_from_stdin

    if source is not None:
        return value_from_file(source)
    screen = current_screen()
    if screen.can_prompt:
        return screen.prompt_hidden(f"Value of {prompt}: ").encode()
    return value_from_stdin(screen.read_input())


@command(
    name="edit",
    examples={
        "stockman secrets edit": "edit the secrets bundle of the cluster",
        "stockman secrets edit kubernetes/apps/default/echo/app/secret.sops.yaml": (
            "edit a file, or create it by its rule in .sops.yaml"
        ),
        "stockman secrets edit cluster.yaml": "edit secrets of the configuration",
    },
)
@click.argument("file", required=False, shell_complete=complete_secret_files)
@click.pass_context
def secrets_edit(ctx: click.Context, file: str | None) -> int:
    """Edit a secret file in your editor.

    FILE defaults to the secrets bundle; a file that does not exist is created by its rule in
    .sops.yaml. The editor is $SOPS_EDITOR, $VISUAL or $EDITOR, or vim, nano or vi. The plain text
    is only in a file in memory (/dev/shm), never on disk; without /dev/shm the command fails. If
    the result cannot be encrypted, the editor is opened again. Unchanged values keep their
    ciphertext, and an unchanged file stays byte-identical.
    """
    from stockman.adapters.files import ram_directories
    from stockman.adapters.programs import ProgramEditor
    from stockman.app.secrets.bundle import bundle_path
    from stockman.app.secrets.values import EditingContext, edit_secret
    from stockman.app.workspace.secret_names import dialect_of, relative_name

    store = open_store(ctx)
    show_problems(store.keyring.problems)
    target = file or bundle_path(dialect_of(store.directory))
    name = relative_name(store.directory, target)
    directories = ram_directories(os.environ.get("XDG_RUNTIME_DIR", ""))
    outcome = edit_secret(
        store, name, EditingContext(ProgramEditor(os.environ), directories, _edit_again)
    )
    screen = current_screen()
    if outcome == "abandoned":
        screen.print_problems([f"{name}: not changed, the edit was discarded"])
        return Exit.FAILED
    screen.note(f"{name}: {outcome}")
    return Exit.DONE


def _edit_again(problem: Problem) -> bool:
    """Show why an edit is invalid; without a terminal the editor is opened only once more."""
    show_problems([problem])
    screen = current_screen()
    if not screen.can_prompt:
        return True
    answer = screen.prompt("Press Enter to edit again, or q to discard the changes: ")
    return answer.strip().lower() not in ("q", "quit")


@command(
    name="create",
    examples={
        "stockman secrets create": "create encrypted secrets for a new cluster",
        "stockman secrets create --from controlplane.yaml": (
            "import the secrets of a running cluster from a controller's machine configuration"
        ),
        "stockman secrets create --from secrets.yaml": (
            "import the output of `talosctl gen secrets`"
        ),
    },
)
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Import the secrets of a running cluster from this file.",
)
@options.output_or_name
@click.pass_context
def secrets_create(ctx: click.Context, source: Path | None, output: Output) -> int:
    """Create the secrets bundle of the cluster, or import an existing one.

    The bundle is talos/talsecret.sops.yaml, or talos/secrets.sops.yaml with cluster.toml. It has
    the format of `talosctl gen secrets` and is encrypted by the rules of .sops.yaml. An existing
    bundle is never overwritten. --from accepts the machine configuration of a controller or a
    bundle, encrypted or not; the file is not changed.
    """
    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.secrets.bundle_creation import BundleCreation, create_bundle

    store = open_store(ctx)
    show_problems(store.keyring.problems)
    making = BundleCreation(clock=SystemClock(), entropy=SystemEntropy(), make_bundle=new_bundle)
    name = create_bundle(store, making, source=source)
    show(
        {"file": name, "from": str(source) if source else None},
        kind="SecretsBundle",
        output=output,
        human=lambda *_: [f"{name}: created"],
        names=lambda _: [name],
    )
    if source is not None:
        current_screen().note(
            f"{source} still contains the secrets: delete it if it is not encrypted"
        )
    return Exit.DONE
