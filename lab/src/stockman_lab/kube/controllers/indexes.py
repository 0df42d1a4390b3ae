"""Numbers of indexed jobs that are done, as their status writes them: `0-2,5`."""

from __future__ import annotations

INDEX = "batch.kubernetes.io/job-completion-index"


def completed_indexes(text: str) -> set[int]:
    """What `0-2,5` means."""
    found: set[int] = set()
    for part in text.split(","):
        if part:
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
    return found


def written_indexes(numbers: set[int]) -> str:
    """Numbers in as few parts as possible; only three in a row are a range."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    told = []
    for first, last in parts:
        if first == last:
            told.append(str(first))
        else:
            told.append(f"{first}{',' if last == first + 1 else '-'}{last}")
    return ",".join(told)
