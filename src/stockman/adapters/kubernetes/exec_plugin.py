"""Run a credential plugin and parse its output."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from stockman.kubernetes import problems
from stockman.kubernetes.kubeconfig import ExecPlugin
from stockman.kubernetes.rows import UnexpectedAnswer, mapping, optional_text, timestamp
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.model.secret import Secret


@record
class IssuedCredential:
    """The credentials that a plugin printed."""

    token: Secret | None = None
    crt: str = ""
    """PEM. Empty: none."""
    key: Secret | None = None
    expires: datetime | None = None
    """None: they do not expire."""


def read_credential(output: bytes) -> IssuedCredential:
    """Parse the output of a plugin; raises `UnexpectedAnswer`."""
    try:
        parsed = json.loads(output)
    except (ValueError, RecursionError):
        raise UnexpectedAnswer("its output is not JSON") from None
    if not isinstance(parsed, Mapping) or parsed.get("kind") != "ExecCredential":
        raise UnexpectedAnswer("its output is not an ExecCredential")
    status = mapping(parsed, "status")
    token, key = optional_text(status, "token"), optional_text(status, "clientKeyData")
    crt = optional_text(status, "clientCertificateData")
    if not token and not (crt and key):
        raise UnexpectedAnswer("its output has neither a token nor a certificate")
    return IssuedCredential(
        token=Secret(token, resolved=True) if token else None,
        crt=crt,
        key=Secret(key, resolved=True) if key else None,
        expires=timestamp(status, "expirationTimestamp"),
    )


_SECONDS = 60.0


async def run_plugin(plugin: ExecPlugin, directory: Path, where: str) -> IssuedCredential:
    """Run a plugin and return its credentials; other output is not shown, it may be secret."""
    output = await _output(plugin, directory, where)
    try:
        return read_credential(output)
    except UnexpectedAnswer as error:
        why = str(error)
    raise Refused(problems.exec_plugin(where, f"the plugin {plugin.command!r} failed: {why}"))


async def _output(plugin: ExecPlugin, directory: Path, where: str) -> bytes:
    exec_info = {
        "apiVersion": plugin.api_version,
        "kind": "ExecCredential",
        "spec": {"interactive": False},
    }
    variables = {"KUBERNETES_EXEC_INFO": json.dumps(exec_info), **plugin.variables}
    is_relative = "/" in plugin.command
    command = str(directory / plugin.command) if is_relative else plugin.command
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
        raise Refused(
            problems.exec_plugin(where, f"cannot run the plugin {plugin.command!r}")
        ) from None
    try:
        async with asyncio.timeout(_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        why = f"the plugin {plugin.command!r} did not finish within {_SECONDS:g} s"
        raise Refused(problems.exec_plugin(where, why)) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        why = f"the plugin {plugin.command!r} exited with status {process.returncode}"
        raise Refused(problems.exec_plugin(where, why))
    return output
