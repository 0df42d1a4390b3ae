"""Values that shells offer: names out of the user's files, presets, keys, problem codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from stockman.cli.command import command
from stockman.cli.options import Choice, directory
from stockman.cli.registry import COMPLETION_VARIABLE, PROGRAM
from stockman.cli.terminal.screen import current_screen
from stockman.model.errors import StockmanError

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]

_SOURCE = "stockman.app.completion"


def complete_with(function: str) -> Completer:
    """Completes with what a function returns, named as `module:function`."""
    return lambda ctx, param, incomplete: matching_values(function, incomplete)


def complete_in_directory(function: str) -> Completer:
    """Completes with what a function returns for the directory the command works in."""
    return lambda ctx, param, incomplete: matching_values(function, incomplete, directory(ctx))


complete_nodes = complete_in_directory(f"{_SOURCE}:node_names")
complete_subjects = complete_in_directory(f"{_SOURCE}:subject_names")
complete_clusters = complete_in_directory(f"{_SOURCE}:cluster_names")
complete_steps = complete_in_directory(f"{_SOURCE}:step_names")
complete_stages_and_steps = complete_in_directory(f"{_SOURCE}:stage_and_step_names")
complete_secret_files = complete_in_directory(f"{_SOURCE}:secret_file_names")
complete_runs = complete_in_directory(f"{_SOURCE}:run_names")
complete_presets = complete_with(f"{_SOURCE}:preset_names")
complete_keys = complete_with(f"{_SOURCE}:key_names")
complete_codes = complete_with(f"{_SOURCE}:problem_codes")
complete_components = complete_with(f"{_SOURCE}:catalog_names")


def complete_explain_arguments(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Completes with keys, problem codes, and components after the word component."""
    given = ctx.params.get(param.name or "") or ()
    if tuple(given)[:1] == ("component",):
        return complete_components(ctx, param, incomplete)
    word = [CompletionItem("component")] if "component".startswith(incomplete) else []
    keys = complete_keys(ctx, param, incomplete)
    return [*word, *keys, *complete_codes(ctx, param, incomplete)]


def matching_values(
    function: str, incomplete: str, *arguments: object
) -> list[CompletionItem[str]]:
    """Values that begin as typed; none where the files they come from are missing or wrong."""
    module, _, name = function.partition(":")
    try:
        source: Any = getattr(import_module(module), name)
        values: Iterable[object] = source(*arguments)
        return [
            CompletionItem(text) for value in values if (text := str(value)).startswith(incomplete)
        ]
    except (ImportError, AttributeError, LookupError, OSError, ValueError, StockmanError):
        return []


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
    current_screen().data((asker.source_template % asker.source_vars()).removesuffix("\n"))
    return 0
