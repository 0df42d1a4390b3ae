"""Search all files that git tracks or would track for strings that look like secrets.

    python scripts/check_secrets.py [DIRECTORY]

A finding is printed as `file:line: kind`, never with the string itself. A false
positive gets a comment with a reason on the same line:

    EXAMPLE = "..."  # not-a-secret: the published example key

or, for files that cannot hold such a comment, by a line in `scripts/not-secrets.txt`:

    path/of/file.yaml  kind  reason

An excuse without a reason, and a line there that excuses nothing, are findings too.
"""

import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
EXCUSES = "scripts/not-secrets.txt"
EXCUSED_HERE = re.compile(r"not-a-secret:\s*(?P<reason>\S.*)?")

KINDS = {
    # "PRIVATE KEY" in base64, at each of the three places where it can begin.
    "private-key-base64": r"UFJJVkFURS[B]LRV|BSSVZBVEUg[S]0VZ|QUklWQVRF[I]EtFW",
    "age-key": r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{20,}",
    "aws-key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "bearer-token": r"(?i:\bbearer\s+)(?=[^\s\"']*[0-9])[A-Za-z0-9._~+/=-]{20,}",
    "bootstrap-token": r"(?<![\w.-])[a-z0-9]{6}\.(?=[a-z]*[0-9])[a-z0-9]{16}(?![\w.-])",
    "cloudflare-token": r"\bcf(?:k|ut|at)_[A-Za-z0-9]{40,}",
    "github-token": r"\b(?:gh[opsru]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    "gitlab-token": r"\bgl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}",
    "google-key": r"\bAIza[A-Za-z0-9_-]{35}",
    "json-web-token": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.",
    "password-in-address": r"\b[a-z][a-z0-9+.-]*://[^\s/:@\"'<>{}$*]+:[^\s/@\"'<>{}$*]{3,}@",
    "proxmox-token": r"![A-Za-z][\w.-]*=[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "registry-token": r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|dckr_pat_[\w-]{20,})",
    "slack-token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
}
KNOWN = re.compile("|".join(f"(?P<{kind.replace('-', '_')}>{KINDS[kind]})" for kind in KINDS))

PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:\\[nr]|[\s\"'#,+]|[A-Z][\w-]+: .*)*[A-Za-z0-9+/]{16}"
)
"""The first line of a key together with the key; the line alone betrays nothing."""

NAMED = re.compile(
    r"(?i)(?:passw(?:or)?d|passphrase|secret|token|api_?key|private_?key|credential)\w*[\"']?"
    r"\s*(?:=|:)\s*[\"']?(?P<value>[A-Za-z0-9+/_.=-]{20,})"
)
"""A value given to a name that says it is confidential."""

RANDOM = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{32,}={0,2}(?![\w+/=-])")
"""A long word that could be base64."""

PUBLIC = re.compile(
    r"ENC\[[^\]]*\]"  # what SOPS encrypted
    r"|(?:ssh-|ecdsa-)\S+ AAAA[A-Za-z0-9+/=]+"  # a public key of SSH
    r"|\b(?:sha(?:1|256|384|512)[-:=]|h1:)[A-Za-z0-9+/=]+"  # a checksum
    r"|SHA256:[A-Za-z0-9+/=]{43}"  # a fingerprint
)
CERTIFICATE = re.compile(r"-----(BEGIN|END) (?:CERTIFICATE|PUBLIC KEY)-----")


class Finding(NamedTuple):
    path: str
    line: int
    kind: str


class Excuse(NamedTuple):
    """One line of `scripts/not-secrets.txt`."""

    path: str
    kind: str
    line: int


def findings(root: Path) -> list[Finding]:
    """Everything in the tree that looks like a secret and is not excused."""
    excuses, problems = _read_excuses(root)
    used: set[Excuse] = set()
    for path in _files(root):
        for finding in scan(path, _text(root / path)):
            excused = {e for e in excuses if (e.path, e.kind) == (finding.path, finding.kind)}
            used |= excused
            if not excused:
                problems.append(finding)
    unused = [e for e in excuses if e not in used]
    problems += [Finding(EXCUSES, e.line, "excuse-without-a-finding") for e in unused]
    return sorted(problems)


def scan(path: str, text: str) -> Iterator[Finding]:
    """What looks like a secret in one file, by line, unless the line itself excuses it."""
    key_lines = {text.count("\n", 0, m.start()) + 1 for m in PRIVATE_KEY.finditer(text)}
    in_certificate = False
    for number, line in enumerate(text.split("\n"), start=1):
        if edge := CERTIFICATE.search(line):
            in_certificate = edge.group(1) == "BEGIN"
        kinds = set(_kinds(PUBLIC.sub(" ", line), certificate=in_certificate))
        if number in key_lines:
            kinds.add("private-key")
        if not kinds:
            continue
        excuse = EXCUSED_HERE.search(line)
        if excuse is None:
            yield from (Finding(path, number, kind) for kind in sorted(kinds))
        elif not excuse.group("reason"):
            yield Finding(path, number, "excuse-without-a-reason")


def _kinds(line: str, *, certificate: bool) -> Iterator[str]:
    for match in KNOWN.finditer(line):
        if match.lastgroup:
            yield match.lastgroup.replace("_", "-")
    for match in NAMED.finditer(line):
        if looks_random(match.group("value"), bits=3.0):
            yield "named-secret"
    if not certificate:
        for match in RANDOM.finditer(line):
            if looks_random(match.group(), bits=4.0) and _mixes_cases(match.group()):
                yield "random-string"


def looks_random(token: str, *, bits: float) -> bool:
    """Whether letters and digits alternate as dice would have it, not as words and paths do."""
    if sum(character.isdigit() for character in token) < 2 or _entropy(token) < bits:
        return False
    runs = re.findall(r"[a-z]+|[A-Z]+|[0-9]+", token)
    return len(runs) * 3.5 >= len(token)


def _mixes_cases(token: str) -> bool:
    return token.lower() != token and token.upper() != token


def _entropy(token: str) -> float:
    """Bits per character, by how often each occurs in the word."""
    shares = [count / len(token) for count in Counter(token).values()]
    return -sum(share * math.log2(share) for share in shares)


def _files(root: Path) -> Iterable[str]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        stdout=subprocess.PIPE,
    )
    names = {name for name in listing.stdout.decode().split("\0") if name}
    return sorted(name for name in names if (root / name).is_file())


def _text(path: Path) -> str:
    content = path.read_bytes()
    return "" if b"\0" in content[:8192] else content.decode("utf-8", "replace")


def _read_excuses(root: Path) -> tuple[list[Excuse], list[Finding]]:
    path = root / EXCUSES
    excuses: list[Excuse] = []
    broken: list[Finding] = []
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    for number, line in enumerate(lines, start=1):
        match line.split(maxsplit=2):
            case [] | ["#", *_]:
                continue
            case [name, kind, _reason]:
                excuses.append(Excuse(name, kind, number))
            case _:
                broken.append(Finding(EXCUSES, number, "excuse-without-a-reason"))
    return excuses, broken


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    problems = findings(root)
    for finding in problems:
        print(f"{finding.path}:{finding.line}: {finding.kind}")
    if problems:
        print(
            f"{len(problems)} findings; remove the secrets, or mark false positives",
            file=sys.stderr,
        )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
