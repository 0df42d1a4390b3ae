"""Cards of NVIDIA as each Talos wants them."""

from __future__ import annotations

import pytest

from tests.talos.machine.clusters import (
    CLUSTER,
    KUBERNETES,
    TALOS,
    desired,
    documents,
    loaded,
    section,
    worker,
)

LINES = ["1.11", "1.12", "1.13", "1.14"]
MODULES = ["nbd", "nvidia", "nvidia_uvm", "nvidia_drm", "nvidia_modeset"]
DRIVER = """\
talos:
  extensions: [siderolabs/nvidia-open-gpu-kernel-modules-production]
  nvidia: {default_runtime: true}
"""


def modules(line: str, nodes: str) -> list[str]:
    config = documents(desired(line, nodes=nodes), "work-1")
    if line == "1.14":
        return [name.split(" ")[1] for name in config if name.startswith("KernelModuleConfig")]
    return [
        module["name"] for module in section(config, "v1alpha1", "machine", "kernel", "modules")
    ]


@pytest.mark.parametrize("line", LINES)
def test_the_extension_of_the_driver_brings_its_modules(line: str) -> None:
    assert modules(line, worker(DRIVER)) == MODULES


@pytest.mark.parametrize("line", LINES)
def test_a_schematic_by_id_needs_the_key(line: str) -> None:
    schematic = "schematic_id: " + "ab" * 32 + "\n"

    assert modules(line, worker(schematic)) == ["nbd"]
    assert modules(line, worker(f"{schematic}talos: {{nvidia: {{enabled: true}}}}")) == MODULES


@pytest.mark.parametrize("line", LINES)
def test_modules_that_are_written_out_are_loaded_once(line: str) -> None:
    nodes = worker(DRIVER).replace("kernel_modules: [nbd]", "kernel_modules: [nvidia, nbd]")

    assert sorted(modules(line, nodes)) == sorted(MODULES)


@pytest.mark.parametrize("line", LINES)
def test_the_filter_of_devices_needs_a_parameter_up_to_1_12(line: str) -> None:
    text = repr(documents(desired(line, nodes=worker(DRIVER)), "work-1"))

    assert ("net.core.bpf_jit_harden" in text) is (line in ("1.11", "1.12"))


def test_the_parameter_follows_the_version_and_not_the_contract() -> None:
    newer = CLUSTER.format(talos=TALOS["1.13"], line="1.11", kubernetes=KUBERNETES["1.13"])
    newer += "talos: {extensions: [siderolabs/nfsd]}\n"

    config = documents(loaded(newer, worker(DRIVER)), "work-1")

    assert "LinkConfig net0" not in config
    assert "bpf_jit_harden" not in repr(config)


@pytest.mark.parametrize("line", LINES)
def test_the_default_runtime_is_set_where_talos_lets_it_be(line: str) -> None:
    config = documents(desired(line, nodes=worker(DRIVER)), "work-1")

    files = section(config, "v1alpha1", "machine").get("files", [])
    paths = [file["path"] for file in files]
    assert paths == ([] if line == "1.14" else ["/etc/cri/conf.d/20-customization.part"])
    assert ("CRICustomizationConfig nvidia" in config) is (line == "1.14")
    assert "/var/cri" not in repr(config)
