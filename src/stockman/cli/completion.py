"""Shell completion: the scripts, and the values that shells offer."""

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

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]

_SOURCE = "stockman.app.completion"


def complete_with(function: str) -> Completer:
    """Return a completer for the values that a function returns, named as `module:function`."""
    return lambda ctx, param, incomplete: matching_values(function, incomplete)


def complete_in_directory(function: str) -> Completer:
    """Return a completer that calls a function with the working directory."""
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
    """Complete keys, problem codes, and component names after `component`."""
    typed = ctx.params.get(param.name or "") or ()
    if tuple(typed)[:1] == ("component",):
        return complete_components(ctx, param, incomplete)
    items = [CompletionItem("component")] if "component".startswith(incomplete) else []
    keys = complete_keys(ctx, param, incomplete)
    return [*items, *keys, *complete_codes(ctx, param, incomplete)]


def matching_values(
    function: str, incomplete: str, *arguments: object
) -> list[CompletionItem[str]]:
    """Return the values with the typed prefix; none if the files are missing or invalid."""
    from stockman.model.errors import StockmanError

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
        "source <(stockman completion bash)": "enable completion in this shell",
        "stockman completion bash > ~/.local/share/bash-completion/completions/stockman": (
            "enable completion in every new bash"
        ),
        'stockman completion zsh > "${fpath[1]}/_stockman"': "enable completion in every new zsh",
        "stockman completion fish > ~/.config/fish/completions/stockman.fish": (
            "enable completion in every new fish"
        ),
    }
)
@click.argument("shell", type=Choice(SHELLS))
def completion(shell: str) -> int:
    """Print a shell completion script.

    Commands, options and values are completed, including the names of your nodes, presets,
    configuration keys and problem codes. Requires bash 4.4 or later.
    """
    from click.shell_completion import get_completion_class

    shell_class = get_completion_class(shell)
    if shell_class is None:
        raise LookupError(shell)
    program = click.get_current_context().find_root().command
    asker = shell_class(program, {}, PROGRAM, COMPLETION_VARIABLE)
    current_screen().data((asker.source_template % asker.source_vars()).removesuffix("\n"))
    return 0
