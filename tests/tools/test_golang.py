import json
import stat
from pathlib import Path

from tests.tools.machine import MGMT, SOME_FILES, Machine

KUBERNETES = "k8s.io/kubernetes@v1.36.3"
TALOS = "github.com/siderolabs/talos@v1.14.1"


def replaces(*pairs: tuple[str, dict[str, str]]) -> str:
    return json.dumps({"Replace": [{"Old": {"Path": old}, "New": new} for old, new in pairs]})


def source_of(machine: Machine, module: str) -> Path:
    (directory,) = (machine.cache / "sources").glob(f"{module.replace('/', '+')}-*[!y]")
    return directory


def test_directories_outside_the_archive_become_the_version_of_the_recipe(
    machine: Machine,
) -> None:
    described = replaces(
        ("k8s.io/api", {"Path": "./staging/src/k8s.io/api"}),
        ("gopkg.in/yaml.v3", {"Path": "example.org/yaml", "Version": "v3.0.1"}),
        ("k8s.io/client-go", {"Path": "./staging/src/k8s.io/client-go"}),
    )
    machine.serve(KUBERNETES, SOME_FILES | {"replaces.json": described})

    assert machine.run("path", "kubectl").returncode == 0

    (edit,) = machine.calls("mod", "edit", "-replace=k8s.io/api=k8s.io/api@v0.36.3")
    assert edit.arguments[2:] == [
        "-replace=k8s.io/api=k8s.io/api@v0.36.3",
        "-replace=k8s.io/client-go=k8s.io/client-go@v0.36.3",
    ]


def test_a_directory_that_the_recipe_has_no_version_for_is_an_error(machine: Machine) -> None:
    described = replaces(("example.org/part", {"Path": "../part"}))
    machine.serve("cuelang.org/go@v0.17.1", {"replaces.json": described})

    result = machine.run("path", "cue")

    assert result.returncode == 1
    assert result.stderr.endswith(
        "cuelang.org/go v0.17.1 replaces example.org/part by a directory outside its archive;"
        " give its recipe a version in `local_replaces`\n"
    )


def test_further_replaces_of_the_recipe_come_after(machine: Machine) -> None:
    described = replaces(("github.com/siderolabs/talos/pkg/machinery", {"Path": "./pkg"}))
    machine.serve(TALOS, SOME_FILES | {"replaces.json": described})

    machine.run("path", "talosctl@1.14.1")

    machinery = "github.com/siderolabs/talos/pkg/machinery"
    assert machine.calls("mod", "edit")[-1].arguments[2:] == [
        f"-replace={machinery}={machinery}@v1.14.1",
        "-replace=github.com/cosi-project/runtime=github.com/cosi-project/runtime@v1.16.2",
        "-replace=github.com/jsimonetti/rtnetlink/v2=github.com/jsimonetti/rtnetlink/v2@v2.2.0",
        "-replace=github.com/mdlayher/ethtool=github.com/siderolabs/ethtool@v0.4.0-sidero",
    ]


def test_files_are_deleted_and_freed_of_their_build_constraint(machine: Machine) -> None:
    machine.run("path", "talosctl@1.14.1")

    source = source_of(machine, TALOS)
    assert not (source / MGMT / "bgp_launch_linux.go").exists()
    assert (source / MGMT / "bgp_launch_other.go").read_text() == "// Free.\n\n\npackage mgmt\n"


def test_files_that_the_archive_lacks_are_written(machine: Machine) -> None:
    machine.run("path", "flux")

    source = source_of(machine, "github.com/fluxcd/flux2/v2@v2.9.5")
    assert (source / "cmd" / "flux" / "manifests" / "none.yaml").read_text() == "---\n"


def test_a_source_copy_can_be_written_to_and_the_original_stays_as_it_was(
    machine: Machine,
) -> None:
    machine.run("path", "talosctl@1.14.1")

    copied = source_of(machine, TALOS) / "go.mod"
    original = machine.root / "modules" / TALOS.replace("/", "+") / "go.mod"
    assert copied.stat().st_mode & stat.S_IWUSR
    assert original.read_text() == SOME_FILES["go.mod"] != copied.read_text()


def test_programs_of_one_module_share_the_source_copy(machine: Machine) -> None:
    machine.run("build", "kubectl", "kube-controller-manager", "kube-apiserver")

    assert len(machine.calls("mod", "download")) == 1
    assert [call.arguments[-1] for call in machine.calls("build")] == [
        "./cmd/kubectl",
        "./cmd/kube-controller-manager",
        "./cmd/kube-apiserver",
    ]


def test_a_build_is_static_stripped_and_uses_the_compiler_at_hand(machine: Machine) -> None:
    machine.run("path", "kubectl")

    (call,) = machine.calls("build")
    command = call.arguments
    assert command[1:3] == ["-trimpath", "-buildvcs=false"]
    assert command[command.index("-ldflags") + 1] == (
        "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3"
        " -X k8s.io/component-base/version.gitMajor=1"
        " -X k8s.io/component-base/version.gitMinor=36"
        " -X k8s.io/client-go/pkg/version.gitVersion=v1.36.3"
    )
    assert call.environment == {
        "GOWORK": "off",
        "GOFLAGS": "-mod=mod",
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
    }


def test_acceptance_tests_are_built_as_a_test_binary(machine: Machine) -> None:
    machine.run("path", "bpg-acceptance@access")

    (call,) = machine.calls("test")
    assert call.arguments[:2] == ["test", "-c"]
    assert call.arguments[call.arguments.index("-tags") + 1] == "acceptance"
    assert call.arguments[-1] == "./fwprovider/access"


def test_a_check_program_requires_its_library(machine: Machine) -> None:
    result = machine.run("path", "check-machinery@1.14.1")

    assert result.returncode == 0, result.stderr
    (edit,) = machine.calls("mod", "edit")
    assert edit.arguments[2:4] == [
        "-require=github.com/siderolabs/talos/pkg/machinery@v1.14.1",
        "-replace=github.com/cosi-project/runtime=github.com/cosi-project/runtime@v1.16.2",
    ]
    (main,) = (machine.cache / "sources").glob("check-machinery@1.14.1-*/main.go")
    assert "configloader" in main.read_text()


def test_after_a_failed_build_the_source_is_copied_again(machine: Machine) -> None:
    machine.run("path", "cue", FAKE_GO_FAILS="cue")

    again = machine.run("path", "cue")

    assert again.returncode == 0
    assert len(machine.calls("mod", "download")) == 2
