"""Settings that are documents of their own in every contract, or became ones."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.model.pattern import pattern
from stockman.talos.machine.facts import Document, Machine, document
from stockman.talos.machine.files import certificate
from stockman.talos.machine.nvidia import RUNTIME, is_default_runtime, kernel_modules, sysctls

_SPAN = pattern(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def settings_documents(machine: Machine) -> Iterator[Document]:
    """Watchdog, logs and CAs; and, as the contract has them, environment and kernel."""
    settings = machine.settings
    if settings.watchdog is not None:
        yield document(
            "WatchdogTimerConfig",
            device=settings.watchdog.device,
            timeout=go_duration(settings.watchdog.timeout),
        )
    for name, url in settings.kernel_logs.items():
        yield document("KmsgLogConfig", name=name, url=url)
    for name, file in settings.trusted_roots.items():
        text = certificate(machine, file, settings.where("trusted_roots"))
        yield document("TrustedRootsConfig", name=name, certificates=text)
    if machine.styled(1, 13) and settings.environment:
        yield document("EnvironmentConfig", variables=dict(settings.environment))
    if machine.styled(1, 14):
        yield from _kernel(machine)


def _kernel(machine: Machine) -> Iterator[Document]:
    settings = machine.settings
    parameters = sysctls(machine)
    if parameters:
        yield document("SysctlConfig", params=parameters)
    if settings.sysfs:
        yield document("SysfsConfig", params=dict(settings.sysfs))
    if settings.udev_rules:
        yield document("UdevRulesConfig", rules=list(settings.udev_rules))
    for name in kernel_modules(machine):
        yield document("KernelModuleConfig", name=name)
    if is_default_runtime(machine):
        yield document("CRICustomizationConfig", name="nvidia", content=RUNTIME)


def go_duration(text: str) -> str:
    """A time span as Go writes it: `90s` is `1m30s`."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError(f"{text} is not a time span")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    minutes, seconds = minutes + seconds // 60, seconds % 60
    hours, minutes = hours + minutes // 60, minutes % 60
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
