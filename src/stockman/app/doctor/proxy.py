"""Whether the web is reached through a proxy, as the environment tells it."""

from __future__ import annotations

from stockman.ports.environment import Machine


def proxy_variable(machine: Machine, host: str) -> str:
    """The variable that sends questions for a host to a proxy; empty where they go straight."""
    if any(_matches(host, rule) for rule in _words(machine, "no_proxy")):
        return ""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        if machine.variable(name):
            return name
    return ""


def _words(machine: Machine, name: str) -> list[str]:
    value = machine.variable(name) or machine.variable(name.upper())
    return [entry.strip().lower() for entry in value.split(",") if entry.strip()]


def _matches(host: str, rule: str) -> bool:
    bare = rule.lstrip("*").lstrip(".")
    return not bare or host.lower() == bare or host.lower().endswith(f".{bare}")
