"""`stockman completion`: the scripts that let shells complete."""

from __future__ import annotations

import click

from stockman.cli.command import command
from stockman.cli.options import Choice
from stockman.cli.registry import COMPLETION_VARIABLE, PROGRAM
from stockman.cli.screen import current

SHELLS = ("bash", "zsh", "fish")


@command(
    examples={
        "source <(stockman completion bash)": "complete in this shell, until it ends",
        "stockman completion bash > ~/.local/share/bash-completion/completions/stockman": (
            "complete in every bash to come"
        ),
        'stockman completion zsh > "${fpath[1]}/_stockman"': "complete in every zsh to come",
        "stockman completion fish > ~/.config/fish/completions/stockman.fish": (
            "complete in every fish to come"
        ),
    }
)
@click.argument("shell", type=Choice(SHELLS))
def completion(shell: str) -> int:
    """Print the script that lets a shell complete stockman's words.

    Commands, options and values are completed, among them the names of your nodes, presets,
    configuration keys and problem codes. bash has to be 4.4 or later.
    """
    from click.shell_completion import get_completion_class

    shell_class = get_completion_class(shell)
    if shell_class is None:
        raise LookupError(shell)
    program = click.get_current_context().find_root().command
    asker = shell_class(program, {}, PROGRAM, COMPLETION_VARIABLE)
    current().data((asker.source_template % asker.source_vars()).removesuffix("\n"))
    return 0
