"""A stand-in for the Go command that writes down how it was called and builds nothing.

Modules are directories below `$FAKE_GO_MODULES`; a `replaces.json` in one of them is what
`go mod edit -json` reports. A build "produces" a script that prints the source's `go.mod`.
"""

import json
import os
import signal
import sys
from pathlib import Path

COPIED = ("GOWORK", "GOFLAGS", "CGO_ENABLED", "GOTOOLCHAIN")


def main(arguments: list[str]) -> int:
    with Path(os.environ["FAKE_GO_CALLS"]).open("a") as calls:
        environment = {name: os.environ.get(name) for name in COPIED}
        calls.write(json.dumps({"arguments": arguments, "environment": environment}) + "\n")
    match arguments:
        case ["env", "GOVERSION"]:
            sys.stdout.write(os.environ.get("FAKE_GO_VERSION", "go1.26.8") + "\n")
        case ["mod", "download", "-json", wanted]:
            return download(wanted)
        case ["mod", "edit", "-json"]:
            described = Path("replaces.json")
            sys.stdout.write(described.read_text() if described.exists() else "{}")
        case ["mod", "edit", *edits]:
            with Path("go.mod").open("a") as file:
                file.writelines(f"{edit}\n" for edit in edits)
        case ["build" | "test", *_]:
            return build(Path(arguments[arguments.index("-o") + 1]))
    return 0


def download(module: str) -> int:
    directory = Path(os.environ["FAKE_GO_MODULES"], module.replace("/", "+"))
    if not directory.exists():
        sys.stdout.write(json.dumps({"Error": f"{module}: there is no such module"}))
        return 1
    sys.stdout.write(json.dumps({"Dir": str(directory)}))
    return 0


def build(target: Path) -> int:
    if gate := os.environ.get("FAKE_GO_GATE"):
        signal.alarm(300)
        Path(gate, "started").write_text(f"{os.getpid()}\n")
        Path(gate, "release").read_text()
    if target.name in os.environ.get("FAKE_GO_FAILS", "").split():
        sys.stderr.writelines(f"complaint {number}\n" for number in range(1, 31))
        return 1
    target.write_text(f"#!/bin/sh\ncat <<'END'\n{Path('go.mod').read_text()}END\n")
    target.chmod(0o755)
    return 0


sys.exit(main(sys.argv[1:]))
