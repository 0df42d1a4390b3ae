"""Programs that the agent runs: a handful, and what a Linux without the others says."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable, Mapping

from stockman_lab.guest.agent_files import content
from stockman_lab.guest.inside import KERNEL, KERNEL_VERSION, Inside, Process
from stockman_lab.guest.system import AgentError

_SHELLS = frozenset({"sh", "bash"})
_NOT_FOUND = 127


def _run(inside: Inside, words: list[str], given: bytes) -> Process | None:
    """What a program does. None: there is no such program."""
    name, arguments = words[0].rpartition("/")[2], words[1:]
    if name in _SHELLS:
        return _shell(inside, arguments, given)
    program = _PROGRAMS.get(name)
    return None if program is None else program(inside, arguments, given)


def _shell(inside: Inside, arguments: list[str], given: bytes) -> Process:
    script = arguments[1] if arguments[:1] == ["-c"] and len(arguments) > 1 else given.decode()
    done = Process(exit_code=0)
    for line in script.replace(";", "\n").splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            return Process(exit_code=2, errors="sh: 1: Syntax error: Unterminated quoted string\n")
        if not words:
            continue
        one = _run(inside, words, b"") or Process(
            exit_code=_NOT_FOUND, errors=f"sh: 1: {words[0]}: not found\n"
        )
        done = Process(
            exit_code=one.exit_code,
            output=done.output + one.output,
            errors=done.errors + one.errors,
        )
    return done


def _cat(inside: Inside, arguments: list[str], given: bytes) -> Process:
    done = Process(exit_code=0)
    for path in arguments or ["-"]:
        found = given if path == "-" else content(inside, path)
        if found is None:
            done.exit_code = 1
            done.errors += f"cat: {path}: No such file or directory\n"
        else:
            done.output += found.decode("utf-8", "replace")
    return done


def _uname(inside: Inside, arguments: list[str], given: bytes) -> Process:
    del given
    said = {
        "-r": KERNEL,
        "-m": inside.machine,
        "-n": inside.hostname,
        "-a": f"Linux {inside.hostname} {KERNEL} {KERNEL_VERSION} {inside.machine} GNU/Linux",
    }
    option = arguments[0] if arguments else "-s"
    return Process(exit_code=0, output=f"{said.get(option, 'Linux')}\n")


_PROGRAMS: dict[str, Callable[[Inside, list[str], bytes], Process]] = {
    "true": lambda _inside, _arguments, _given: Process(exit_code=0),
    "false": lambda _inside, _arguments, _given: Process(exit_code=1),
    "echo": lambda _inside, arguments, _given: Process(
        exit_code=0, output=" ".join(arguments) + "\n"
    ),
    "hostname": lambda inside, _arguments, _given: Process(
        exit_code=0, output=f"{inside.hostname}\n"
    ),
    "whoami": lambda _inside, _arguments, _given: Process(exit_code=0, output="root\n"),
    "cat": _cat,
    "uname": _uname,
}


def _exec(inside: Inside, arguments: Mapping[str, object], now: float) -> object:
    del now
    path, arg = str(arguments.get("path", "")), arguments.get("arg", [])
    words = [path, *(str(one) for one in arg)] if isinstance(arg, list) else [path]
    done = _run(inside, words, base64.b64decode(str(arguments.get("input-data", ""))))
    if done is None:
        text = f"Failed to execute child process “{path}” (No such file or directory)"
        raise AgentError(text)
    inside.last_pid += 1
    inside.processes[str(inside.last_pid)] = done
    return {"pid": inside.last_pid}


def _exec_status(inside: Inside, arguments: Mapping[str, object], now: float) -> object:
    del now
    done = inside.processes.pop(str(arguments.get("pid", "")), None)
    if done is None:
        # The agent forgot to print the number: what it says is the format that it has for one.
        raise AgentError("PID ld does not exist")
    exec_status: dict[str, object] = {"exited": True, "exitcode": done.exit_code}
    for name, text in (("out", done.output), ("err", done.errors)):
        if text:
            exec_status[f"{name}-data"] = base64.b64encode(text.encode()).decode()
            exec_status[f"{name}-truncated"] = False
    return exec_status


ANSWERS: dict[str, Callable[[Inside, Mapping[str, object], float], object]] = {
    "exec": _exec,
    "exec-status": _exec_status,
}
