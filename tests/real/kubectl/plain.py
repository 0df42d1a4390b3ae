"""What kubectl prints, without what is different each time."""

from __future__ import annotations

import re

import yaml

_LETTER = "[bcdfghjklmnpqrstvwxz2456789]"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_RULES: tuple[tuple[str, str], ...] = (
    (_UUID, "UID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    (r"/tmp/(LIVE|MERGED)-\d+/", r"/tmp/\1/"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}( UTC)?", "TIME"),
    (r"^[WEI]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", "LOG "),
    (r"(Resource Version: +)\d+", r"\1VERSION"),
    (r"current: \d+", "current: VERSION"),
    (r"(resourceVersion\\*\"?: ?\\*['\"]?)\d+", r"\1VERSION"),
    (r"(resourceVersion=)\d+", r"\1VERSION"),
    (r"(?<=\s)(\d{1,3}s|1?\dm(\d+s)?)(?=\s|\)|,|$)", "AGE"),
    (r"\(x\d+ over AGE\)", "(xN over AGE)"),
    (r"AGE \(xN over AGE\)", "AGE"),
    (r"10\.244\.\d+\.\d+(?!/)(?!\d)", "POD-IP"),
    (r"10\.244\.\d+\.0/24", "POD-NETWORK"),
    (r"10\.43\.\d+\.\d+(?!/)(?!\d)", "SERVICE-IP"),
    (r"https://127\.0\.0\.1:\d+", "SERVER"),
    (r"127\.0\.0\.1:\d{4,5}", "SERVER"),
    (r"\b3[0-2]\d{3}(?=/TCP|/UDP|$)", "NODE-PORT"),
    (r"(nodePort\"?: )\d+", r"\1NODE-PORT"),
    (r"eyJ[\w.-]+", "TOKEN"),
    (r"[0-9a-f]{64}", "DIGEST"),
    (r"(sha256:|containerd://)DIGEST", r"\1DIGEST"),
    (r"[\w/.-]+@sha256:DIGEST", "IMAGE-ID"),
    (rf"kube-api-access-{_LETTER}{{5}}\b", "kube-api-access-X"),
    (
        r"(pod-template-hash|controller-revision-hash|templateHash)(\"?[=:] ?\"?)[-\w]+",
        r"\1\2HASH",
    ),
    (rf"-{_LETTER}{{8,10}}-{_LETTER}{{5}}\b", "-HASH-X"),
    (rf"-{_LETTER}{{8,10}}\b(?!-)", "-HASH"),
    (rf"-{_LETTER}{{5}}\b(?!-)", "-X"),
    (r"-\d{8}(?=\b)", "-MINUTE"),
    (r"\.[0-9a-f]{16}\b", ".T"),
    (r"(X509SHA256=)\w+", r"\1DIGEST"),
    (r"generation: \d+", "generation: N"),
)
_PATTERNS = tuple((re.compile(pattern, re.MULTILINE), word) for pattern, word in _RULES)
_WORKER = re.compile(r"\bn[23]\b")
_WORKER_ADDRESS = re.compile(r"\b127\.66\.0\.[23]\b")
_WIDE = re.compile(r"(?<=\S) {2,}")


def plain(text: str, *, anywhere: bool, is_sorted: bool) -> str:
    """The same text with names for what moves, and columns of any width."""
    for pattern, word in _PATTERNS:
        text = pattern.sub(word, text)
    if anywhere:
        text = _WORKER_ADDRESS.sub("WORKER-IP", _WORKER.sub("worker", text))
    lines = [_WIDE.sub("  ", line).rstrip() for line in text.splitlines()]
    lines = [_with_sorted_warnings(line) for line in lines]
    lines = [re.sub(r"^-{3,}( -{3,})*$", "---", line) for line in lines]
    if is_sorted:
        lines.sort()
    return "\n".join(lines)


def _with_sorted_warnings(line: str) -> str:
    """kubectl itself tells several warnings of one line in any order."""
    if not line.startswith("Warning: ") or "; " not in line:
        return line
    return "Warning: " + "; ".join(sorted(line.removeprefix("Warning: ").split("; ")))


def with_sorted_managers(text: str) -> str:
    """An object whose managers stand in the order of their names, not of their moments."""
    try:
        found = yaml.safe_load(text)
        managers = found["metadata"]["managedFields"]
    except (yaml.YAMLError, TypeError, KeyError):
        return text
    names = ("manager", "operation", "subresource", "apiVersion")
    managers.sort(key=lambda one: [one.get(name, "") for name in names])
    return yaml.safe_dump(found, sort_keys=False)
