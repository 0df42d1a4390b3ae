"""Programs that give credentials; run only where the user allows it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from stockman.adapters.http_kubernetes.issued import Issued, read_issued
from stockman.kubernetes import problems
from stockman.kubernetes.kubeconfig import Plugin
from stockman.kubernetes.rows import OddAnswer
from stockman.model.errors import Refused

_SECONDS = 60.0


async def issued(plugin: Plugin, directory: Path, where: str) -> Issued:
    """What the program gives. What it says otherwise is not shown: it may hold secrets."""
    output = await _output(plugin, directory, where)
    try:
        return read_issued(output)
    except OddAnswer as error:
        why = str(error)
    raise Refused(problems.plugin(where, f"{plugin.command!r} was run, and {why}"))


async def _output(plugin: Plugin, directory: Path, where: str) -> bytes:
    asked = {
        "apiVersion": plugin.api_version,
        "kind": "ExecCredential",
        "spec": {"interactive": False},
    }
    variables = {"KUBERNETES_EXEC_INFO": json.dumps(asked), **plugin.variables}
    own = "/" in plugin.command
    command = str(directory / plugin.command) if own else plugin.command
    try:
        process = await asyncio.create_subprocess_exec(
            command,
            *plugin.arguments,
            env={**os.environ, **variables},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except (OSError, ValueError):
        raise Refused(problems.plugin(where, f"{plugin.command!r} cannot be run")) from None
    try:
        async with asyncio.timeout(_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        why = f"{plugin.command!r} took longer than {_SECONDS:g} s"
        raise Refused(problems.plugin(where, why)) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        why = f"{plugin.command!r} ended with exit code {process.returncode}"
        raise Refused(problems.plugin(where, why))
    return output
