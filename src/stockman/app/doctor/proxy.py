"""The web proxy that the environment configures."""

from __future__ import annotations

from stockman.ports.environment import Machine


def proxy_variable(machine: Machine, host: str) -> str:
    """Return the variable that sets the proxy for a host. Empty: it is reached directly."""
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
