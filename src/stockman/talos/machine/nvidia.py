"""Cards of NVIDIA: what a machine needs besides the extensions of the driver."""

from __future__ import annotations

from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.talos.machine.facts import Machine
from stockman.talos.schematic_reader import image_schematic

MODULES = ("nvidia", "nvidia_uvm", "nvidia_drm", "nvidia_modeset")
JIT_HARDENING = {"net.core.bpf_jit_harden": "1"}
"""Without it the container toolkit of Talos up to 1.12 cannot set up its device filter."""
RUNTIME = """\
[plugins."io.containerd.cri.v1.runtime".containerd]
  default_runtime_name = "nvidia"
"""
RUNTIME_FILE = "/etc/cri/conf.d/20-customization.part"
"""The only file below `/etc` that a machine configuration may create."""

_DRIVER = pattern(r"siderolabs/(nvidia-open-gpu-kernel-modules|nonfree-kmod-nvidia)\b.*")


def has_nvidia(machine: Machine) -> bool:
    """Whether the machine loads the driver: it was said, or the extensions say so."""
    wanted = machine.settings.nvidia.enabled
    if wanted is not None:
        return wanted
    contents = image_schematic(machine.node.schematic, Problems())
    return contents is not None and any(map(_DRIVER.fullmatch, contents.extensions))


def kernel_modules(machine: Machine) -> tuple[str, ...]:
    """Modules that the machine loads, each once."""
    needed = MODULES if has_nvidia(machine) else ()
    return tuple(dict.fromkeys((*machine.node.kernel_modules, *needed)))


def sysctls(machine: Machine) -> dict[str, str]:
    """Kernel parameters of the machine; those that the user gives win."""
    old = machine.cluster.talos.version.line <= (1, 12)
    needed = JIT_HARDENING if old and has_nvidia(machine) else {}
    return needed | machine.settings.sysctls


def is_default_runtime(machine: Machine) -> bool:
    """Whether every container gets the runtime that can use the cards."""
    return machine.settings.nvidia.default_runtime and has_nvidia(machine)
