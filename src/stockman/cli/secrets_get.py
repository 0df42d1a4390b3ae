"""`stockman secrets get`: what a secret file says."""

from __future__ import annotations

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.complete import complete_secret_files
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.screen import current
from stockman.cli.secret_work import open_store, warn


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
@options.outputs((Output.TABLE, Output.JSON, Output.YAML, Output.NAME))
@click.pass_context
def secrets_get(ctx: click.Context, file: str, path: str | None, output: Output) -> int:
    """Print what a secret file says, or one value of it.

    PATH names one value: keys with dots between them, places in lists as [0], keys with dots in
    them as ["tls.crt"]. The check sum of the file is compared before anything is printed. With
    `-o name` the paths of all values are listed, and none of the values.
    """
    from stockman.app.secret_names import name_of
    from stockman.app.secret_values import all_of, paths_in, text_of, value_of

    store = open_store(ctx)
    warn(store.keyring.problems)
    name = name_of(store.directory, file)
    if output is Output.NAME:
        for one in paths_in(store, name, path):
            current().data(one)
    elif output is not Output.TABLE:
        data = value_of(store, name, path) if path else all_of(store, name)
        show(data, kind="Secret", output=output, human=lambda *_: ())
    elif path:
        text = text_of(store, name, path)
        current().raw(text if text.endswith(b"\n") else text + b"\n")
    else:
        current().raw(store.plaintext(name))
    return Exit.DONE
