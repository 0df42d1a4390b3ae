"""System settings of a machine: kernel, NVIDIA driver, watchdog, logs, CAs and environment."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.talos.machine.inputs import Document, MachineInputs, certificate_text, new_document
from stockman.talos.schematic import desired_schematic

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


def has_nvidia(machine: MachineInputs) -> bool:
    """Whether the machine loads the NVIDIA driver: by its setting, or by its extensions."""
    enabled = machine.settings.nvidia.enabled
    if enabled is not None:
        return enabled
    contents = desired_schematic(machine.node.schematic, Problems())
    return contents is not None and any(map(_DRIVER.fullmatch, contents.extensions))


def kernel_modules(machine: MachineInputs) -> tuple[str, ...]:
    """Return the modules that the machine loads, without duplicates."""
    needed = MODULES if has_nvidia(machine) else ()
    return tuple(dict.fromkeys((*machine.node.kernel_modules, *needed)))


def sysctls(machine: MachineInputs) -> dict[str, str]:
    """Return the kernel parameters of the machine; user settings take precedence."""
    old = machine.cluster.talos.version.line <= (1, 12)
    needed = JIT_HARDENING if old and has_nvidia(machine) else {}
    return needed | machine.settings.sysctls


def is_default_runtime(machine: MachineInputs) -> bool:
    """Whether the NVIDIA runtime is the default for all containers."""
    return machine.settings.nvidia.default_runtime and has_nvidia(machine)


_SPAN = pattern(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def settings_documents(machine: MachineInputs) -> Iterator[Document]:
    """Yield watchdog, logs and CAs, and since 1.13 and 1.14 also environment and kernel."""
    settings = machine.settings
    if settings.watchdog is not None:
        yield new_document(
            "WatchdogTimerConfig",
            device=settings.watchdog.device,
            timeout=go_duration(settings.watchdog.timeout),
        )
    for name, url in settings.kernel_logs.items():
        yield new_document("KmsgLogConfig", name=name, url=url)
    for name, file in settings.trusted_roots.items():
        text = certificate_text(machine, file, settings.where("trusted_roots"))
        yield new_document("TrustedRootsConfig", name=name, certificates=text)
    if machine.contract_at_least(1, 13) and settings.environment:
        yield new_document("EnvironmentConfig", variables=dict(settings.environment))
    if machine.contract_at_least(1, 14):
        yield from _kernel(machine)


def _kernel(machine: MachineInputs) -> Iterator[Document]:
    settings = machine.settings
    parameters = sysctls(machine)
    if parameters:
        yield new_document("SysctlConfig", params=parameters)
    if settings.sysfs:
        yield new_document("SysfsConfig", params=dict(settings.sysfs))
    if settings.udev_rules:
        yield new_document("UdevRulesConfig", rules=list(settings.udev_rules))
    for name in kernel_modules(machine):
        yield new_document("KernelModuleConfig", name=name)
    if is_default_runtime(machine):
        yield new_document("CRICustomizationConfig", name="nvidia", content=RUNTIME)


def go_duration(text: str) -> str:
    """Return a duration as Go writes it: `90s` is `1m30s`."""
    match = _SPAN.fullmatch(text)
    if match is None:
        raise ValueError(f"{text} is not a duration")
    hours, minutes, seconds = (int(number or 0) for number in match.groups())
    minutes, seconds = minutes + seconds // 60, seconds % 60
    hours, minutes = hours + minutes // 60, minutes % 60
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
