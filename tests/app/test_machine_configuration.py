"""Machine configurations out of a directory: its keys, patch files, bundle and secrets."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest

from stockman.app.conversion.convert import convert_files
from stockman.app.machine_config.machines import (
    Comparison,
    Machines,
    compare_configurations,
    load_machines,
    write_configurations,
)
from stockman.app.rendering.validation import validate
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.talos.machine.assembly import trees_text
from stockman.talos.patches.schema import iter_leaves
from tests.app.machine_workspace import sealed, workspace, write_files
from tests.talos.machine.clusters import NODES, bundle

HERE = "templates/config/talos/patches"
FILES = "talos: {extensions: [a/b], patches: {all: ['@./patches/a.yaml']}}\n"
CANARY = ".".join(("canary", "0123456789abcdef"))


def opened(directory: Path, **environment: str) -> Machines:
    return load_machines(directory, {"HOME": str(directory), **environment})


def sysctls(directory: Path, node: str = "work-1") -> dict[str, tuple[object, str]]:
    """Kernel parameters of a node, each with its origin."""
    found = opened(directory)
    trees = found.documents(found.find(node), show_secrets=False)
    return {
        path.removeprefix("machine.sysctls."): (leaf.value, str(leaf.origin))
        for path, leaf in iter_leaves(trees[0])
        if path.startswith("machine.sysctls.")
    }


def refusal(directory: Path, **environment: str) -> Problem:
    with pytest.raises(StockmanError) as caught:
        clear_text(directory, **environment)
    return caught.value.problem


def named(*names: str) -> dict[str, str]:
    """Patch files that each say their own name."""
    return {
        name: f"machine:\n  sysctls:\n    winner: {name.rpartition('/')[2]}\n" for name in names
    }


KEYS = """\
talos:
  extensions: [a/b]
  patches:
    all:
      - machine:
          sysctls: {one: all}
      - |
        machine:
          sysctls:
            two: all
    worker:
      - "@./patches/three.yaml"
      - "machine: {sysctls: {four: '4'}}"
"""


def test_patches_of_keys_know_their_places(tmp_path: Path) -> None:
    three = "# a comment\nmachine:\n  sysctls: {three: file}\n"

    found = sysctls(workspace(tmp_path, KEYS, {"patches/three.yaml": three}))

    assert found == {
        "one": ("all", "cluster.yaml:18:26 (talos.patches.all[0])"),
        "two": ("all", "cluster.yaml:22:18 (talos.patches.all[1])"),
        "three": ("file", "patches/three.yaml:3:20"),
        "four": ("4", "cluster.yaml:25:9 (talos.patches.worker[1])"),
    }


CLASSES = """\
classes:
  base:
    talos: {patches: [{machine: {sysctls: {winner: base, base: "1"}}}]}
  gpu:
    extends: base
    talos: {patches: [{machine: {sysctls: {winner: gpu, gpu: "1"}}}]}
"""


def test_patches_of_classes_and_of_the_node_add_up(tmp_path: Path) -> None:
    own = "    class: gpu\n    talos: {patches: [{machine: {sysctls: {winner: own}}}]}\n"

    found = sysctls(workspace(tmp_path, nodes=NODES + own + CLASSES))

    assert found["winner"] == ("own", "nodes.yaml:21:52 (nodes[1].talos.patches[0])")
    assert found["gpu"][1] == "nodes.yaml:27:62 (classes.gpu.talos.patches[0])"
    assert found["base"][1] == "nodes.yaml:24:64 (classes.base.talos.patches[0])"


def test_files_of_the_template_directories_are_patches(tmp_path: Path) -> None:
    names = ["global/b.yaml", "global/a.yaml.j2", "worker/w.yaml", "controller/c.yaml"]
    workspace(tmp_path, files=named(*(f"{HERE}/{name}" for name in names)))

    assert sysctls(tmp_path)["winner"] == ("w.yaml", f"{HERE}/worker/w.yaml:3:13")
    assert sysctls(tmp_path, "cp-1")["winner"][0] == "c.yaml"
    write_files(tmp_path, named(f"{HERE}/work-1/n.yaml"))
    assert sysctls(tmp_path)["winner"][0] == "n.yaml"


def test_files_of_a_directory_apply_in_the_order_of_their_names(tmp_path: Path) -> None:
    workspace(tmp_path, files=named(f"{HERE}/global/b.yaml", f"{HERE}/global/a.yaml.j2"))

    assert sysctls(tmp_path)["winner"][0] == "b.yaml"


def test_an_override_takes_the_place_of_a_file(tmp_path: Path) -> None:
    override = "templates/overrides/talos/patches/global/a.yaml"
    files = {
        **named(f"{HERE}/global/a.yaml"),
        override: "machine: {sysctls: {winner: other}}\n",
    }

    assert sysctls(workspace(tmp_path, files=files)) == {"winner": ("other", f"{override}:1:29")}


def test_keys_come_after_the_files_of_their_scope(tmp_path: Path) -> None:
    keys = "talos: {extensions: [a/b], patches: {all: [{machine: {sysctls: {winner: key}}}]}}\n"

    assert sysctls(workspace(tmp_path, keys, named(f"{HERE}/global/a.yaml")))["winner"][0] == "key"


def test_the_dollar_of_talhelper_is_one_dollar(tmp_path: Path) -> None:
    files = {
        f"{HERE}/global/a.yaml": "machine: {sysctls: {gone: '1', price: '$$5'}}\n",
        f"{HERE}/global/b.yaml": "machine:\n  sysctls:\n    gone:\n      $$patch: delete\n",
    }

    assert {
        name: sysctl[0] for name, sysctl in sysctls(workspace(tmp_path, files=files)).items()
    } == {"price": "$5"}


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.yaml", "machine:\n  sysctls: {a: '${HOME}'}\n", "2:17"),
        ("a.yaml", "machine:\n  sysctls: {a: '{{ .Hostname }}'}\n", "2:17"),
    ],
)
def test_a_template_is_refused_at_what_has_to_be_filled_in(
    tmp_path: Path, name: str, text: str, place: str
) -> None:
    problem = refusal(workspace(tmp_path, files={f"{HERE}/global/{name}": text}))

    assert problem.code == "patch.template"
    assert str(problem.where) == f"{HERE}/global/{name}:{place}"


def test_templates_of_makejinja_are_filled_in(tmp_path: Path) -> None:
    text = "#% if cluster_name %#\nmachine:\n  sysctls: {a: '#{ cluster_name }#'}\n#% endif %#\n"

    workspace(tmp_path, files={f"{HERE}/global/a.yaml.j2": text})

    assert sysctls(tmp_path)["a"][1] == f"{HERE}/global/a.yaml.j2:1:1"


def test_a_template_that_breaks_is_told(tmp_path: Path) -> None:
    problem = refusal(workspace(tmp_path, files={f"{HERE}/global/a.yaml.j2": "#{ 1 / 0 }#\n"}))

    assert problem.code.startswith("template.")
    assert str(problem.where).startswith(f"{HERE}/global/a.yaml.j2:1:")


def test_what_stockman_decides_is_refused_in_files_too(tmp_path: Path) -> None:
    text = "machine:\n  sysctls: {a: b}\n  install: {image: x}\n"

    problem = refusal(workspace(tmp_path, files={f"{HERE}/global/a.yaml": text}))

    assert problem.code == "patch.owned-key"
    assert str(problem.where) == f"{HERE}/global/a.yaml:3:13"


@pytest.mark.parametrize("name", ["./missing.yaml", "../out.yaml", "/etc/hostname"])
def test_a_reference_leads_to_a_file_of_the_directory(tmp_path: Path, name: str) -> None:
    path = tmp_path / "here"
    (tmp_path / "out.yaml").write_text("machine: {}\n")
    keys = f"talos: {{extensions: [a/b], patches: {{all: ['@{name}']}}}}\n"

    problem = refusal(workspace(path, keys))

    assert (problem.code, str(problem.where)) == ("patch.file", "cluster.yaml:13:44")


def test_a_directory_of_no_node_is_a_warning(tmp_path: Path) -> None:
    (warning,) = opened(workspace(tmp_path, files=named(f"{HERE}/work-7/a.yaml"))).warnings

    assert (warning.code, warning.is_error) == ("patch.no-node", False)


def test_an_encrypted_patch_is_opened_and_masked(tmp_path: Path) -> None:
    workspace(tmp_path, FILES.replace("a.yaml", "a.sops.yaml"))
    sealed(tmp_path, "patches/a.sops.yaml", "machine:\n  sysctls:\n    a: canary\n")

    found = opened(tmp_path)
    shown = trees_text(found.documents(found.find("cp-1"), show_secrets=False))
    clear = trees_text(found.documents(found.find("cp-1"), show_secrets=True))

    assert "canary" not in shown
    assert "a: canary" in clear


MIRROR = (
    "talos: {extensions: [a/b], registries: {docker.io: {endpoints: ['https://127.66.0.5'],"
    " username: u, password: '${MIRROR}'}}}\n"
)


def test_references_to_secrets_are_followed(tmp_path: Path) -> None:
    found = opened(workspace(tmp_path, MIRROR), MIRROR="canary-mirror")

    clear = trees_text(found.documents(found.find("cp-1"), show_secrets=True))
    shown = trees_text(found.documents(found.find("cp-1"), show_secrets=False))

    assert "canary-mirror" in clear
    assert "canary-mirror" not in shown


def test_a_secret_that_is_not_at_hand_is_named(tmp_path: Path) -> None:
    problem = refusal(workspace(tmp_path, MIRROR))

    assert problem.code == "secret.unresolvable"
    assert "${MIRROR}" in problem.what


def test_without_a_bundle_there_is_no_configuration(tmp_path: Path) -> None:
    (workspace(tmp_path) / "talos" / "talsecret.sops.yaml").unlink()

    assert refusal(tmp_path).code == "bundle.absent"


def difference(directory: Path, text: str, *, show_secrets: bool = False) -> Comparison:
    file = directory / "running.yaml"
    file.write_text(text)
    found = opened(directory)
    node = found.find("work-1")
    return compare_configurations(found, found.assemble(node), file, show_secrets=show_secrets)


def clear_text(directory: Path, **environment: str) -> str:
    found = opened(directory, **environment)
    return trees_text(found.documents(found.find("work-1"), show_secrets=True))


def test_a_configuration_that_was_checked_is_not_assembled_again(tmp_path: Path) -> None:
    machines = opened(workspace(tmp_path))
    node = machines.nodes[0]
    assert machines.assemble(node) is not machines.assemble(node)

    machines.check([node])

    assert machines.assemble(node) is machines.assemble(node)


def test_a_configuration_does_not_differ_from_itself(tmp_path: Path) -> None:
    text = clear_text(workspace(tmp_path))

    assert difference(tmp_path, text) == Comparison(differences=(), withheld=())


def test_differences_are_those_of_meaning(tmp_path: Path) -> None:
    text = clear_text(workspace(tmp_path)).replace("mtu: 9000", "mtu: 1500")
    names = "        - 127.66.0.10\n        - api.example.com\n"
    other = "        - api.example.com\n        - 127.66.0.10\n"
    assert names in text

    found = difference(tmp_path, f"# a comment\n{text.replace(names, other)}")

    assert [
        (difference.path, difference.kind, difference.before, difference.after)
        for difference in found.differences
    ] == [("LinkConfig net0: mtu", "changed", 1500, 9000)]


def test_documents_that_one_side_lacks_are_told_whole(tmp_path: Path) -> None:
    text = clear_text(workspace(tmp_path))
    extra = "---\napiVersion: v1alpha1\nkind: DummyLinkConfig\nname: dummy0\n"
    first, *rest = text.split("---\n")
    without = "---\n".join([first, *(one for one in rest if "kind: TimeSyncConfig" not in one)])

    found = difference(tmp_path, without + extra)

    assert [(difference.path, difference.kind) for difference in found.differences] == [
        ("DummyLinkConfig dummy0", "removed"),
        ("TimeSyncConfig", "added"),
    ]


def test_secrets_are_compared_and_not_shown(tmp_path: Path) -> None:
    token = bundle().trustdinfo.token.reveal()
    text = clear_text(workspace(tmp_path)).replace(token, CANARY)

    (masked,) = difference(tmp_path, text).differences
    (clear,) = difference(tmp_path, text, show_secrets=True).differences

    assert (masked.path, masked.before, masked.after) == ("machine.token", "***", "***")
    assert (clear.before, clear.after) == (CANARY, token)


def test_masked_files_are_compared_as_far_as_they_go(tmp_path: Path) -> None:
    found = opened(workspace(tmp_path))
    node = found.find("cp-1")
    file = tmp_path / "masked.yaml"
    file.write_text(trees_text(found.documents(node, show_secrets=False)))

    result = compare_configurations(found, found.assemble(node), file, show_secrets=False)

    assert result.differences == ()
    assert "machine.ca.key" in result.withheld


def test_what_talosctl_prints_of_a_machine_is_a_configuration_too(tmp_path: Path) -> None:
    text = clear_text(workspace(tmp_path))
    lines = "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())
    resource = (
        "node: 127.66.0.31\nmetadata:\n    type: MachineConfigs.config.talos.dev\n"
        f"    id: v1alpha1\nspec: |\n{lines}"
    )

    assert difference(tmp_path, resource).differences == ()


def test_files_are_for_their_owner_alone_and_replaced(tmp_path: Path) -> None:
    found = opened(workspace(tmp_path / "here"))
    target = tmp_path / "out"

    for _ in range(2):
        count = write_configurations(found, found.nodes, target, tag="t", show_secrets=True)

    assert count == 2
    assert stat.S_IMODE(target.stat().st_mode) == 0o700
    files = sorted(target.iterdir())
    assert [file.name for file in files] == ["cp-1.yaml", "work-1.yaml"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert bundle().trustdinfo.token.reveal() in files[0].read_text()


def test_secrets_are_not_written_where_git_would_keep_them(tmp_path: Path) -> None:
    found = opened(workspace(tmp_path))
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    target = tmp_path / "out"

    with pytest.raises(StockmanError, match=r"config\.exposed-output"):
        write_configurations(found, found.nodes, target, tag="t", show_secrets=True)

    assert list(target.iterdir()) == []
    write_configurations(found, found.nodes, target, tag="t", show_secrets=False)
    (tmp_path / ".gitignore").write_text("out/\n")
    write_configurations(found, found.nodes, target, tag="t", show_secrets=True)


def test_patch_files_of_the_toml_dialect_have_directories_of_their_own(tmp_path: Path) -> None:
    workspace(tmp_path)
    converted = convert_files(tmp_path, to="toml")
    for name in ("cluster.yaml", "nodes.yaml"):
        (tmp_path / name).unlink()
    write_files(tmp_path, converted.result.files)
    (tmp_path / "talos" / "talsecret.sops.yaml").rename(tmp_path / "talos" / "secrets.sops.yaml")
    names = ["all/a.yaml", "control-plane/c.yaml", "worker/w.yaml.tpl", "node/work-1/n.yaml"]

    write_files(tmp_path, named(*(f"template/config/talos/{name}" for name in names)))

    assert sysctls(tmp_path, "cp-1")["winner"][0] == "c.yaml"
    assert sysctls(tmp_path)["winner"][0] == "n.yaml"
    write_files(tmp_path, {"template/config/talos/all/a.yaml.tpl": "machine: {type: '{{ a }}'}\n"})
    assert refusal(tmp_path).code == "patch.template"


def operations(scope: str, path: str) -> str:
    operation = f"{{op: add, path: {path}, value: {{a: b}}}}"
    return f"talos: {{extensions: [a/b], patches: {{{scope}: [[{operation}]]}}}}\n"


def test_operations_apply_to_a_configuration_of_one_document(tmp_path: Path) -> None:
    workspace(tmp_path, operations("controller", "/machine/sysctls"), line="1.11")

    assert sysctls(tmp_path, "cp-1") == {
        "a": ("b", "cluster.yaml:13:97 (talos.patches.controller[0])")
    }


def test_operations_are_refused_on_several_documents(tmp_path: Path) -> None:
    problem = refusal(workspace(tmp_path, operations("all", "/machine/sysctls"), line="1.11"))

    assert (problem.code, str(problem.where)) == ("patch.json6902", "cluster.yaml:13:45")


@pytest.mark.parametrize("path", ["/machine/install/image", "/cluster/network", "/machine/ca/key"])
def test_operations_leave_alone_what_stockman_decides(tmp_path: Path, path: str) -> None:
    workspace(tmp_path, operations("controller", path), line="1.11")

    codes = [problem.code for problem in validate(tmp_path).problems.errors]

    assert set(codes) == {"patch.owned-key"}
