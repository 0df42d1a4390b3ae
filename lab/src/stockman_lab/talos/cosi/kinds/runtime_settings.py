"""What the configuration sets inside of a machine: kernel, watchdog, environment, services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.content import Contents
from stockman_lab.talos.cosi.facts import is_configured, url_parts
from stockman_lab.talos.cosi.registry import kind
from stockman_lab.talos.drivers import can_load

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_PARAMETERS = {
    "fs.aio-max-nr": ("1048576", "65536"),
    "fs.inotify.max_user_instances": ("8192", "128"),
    "kernel.panic": ("10", "0"),
    "kernel.pid_max": ("262144", "32768"),
    "net.bridge.bridge-nf-call-ip6tables": ("1", "1"),
    "net.bridge.bridge-nf-call-iptables": ("1", "1"),
    "net.ipv4.icmp_echo_ignore_broadcasts": ("1", "1"),
    "net.ipv4.icmp_ignore_bogus_error_responses": ("1", "1"),
    "net.ipv4.ip_forward": ("1", "0"),
    "net.ipv4.ip_local_reserved_ports": ("50000,50001", ""),
    "net.ipv4.tcp_keepalive_intvl": ("60", "75"),
    "net.ipv4.tcp_keepalive_time": ("600", "7200"),
    "net.ipv6.conf.default.accept_ra": ("2", "1"),
    "net.ipv6.conf.default.forwarding": ("1", "0"),
    "vm.overcommit_memory": ("1", "0"),
}
"""What Talos sets by itself, and what the kernel has without it."""
_MODULES = {
    "virtio_balloon": (28672, []),
    "virtio_pci": (28672, []),
    "virtio_pci_legacy_dev": (12288, ["virtio_pci"]),
    "virtio_pci_modern_dev": (16384, ["virtio_pci"]),
}


@kind("KernelParamStatuses.runtime.talos.dev", "runtime.KernelParamSpecController")
def kernel_param_statuses(machine: Machine) -> Contents:
    contents = {
        f"proc.sys.{name}": {"current": value, "default": default}
        for name, (value, default) in _PARAMETERS.items()
    }
    for name, value in _told(machine).items():
        default = contents.get(name, {}).get("default", "")
        contents[name] = {"current": value, "default": default}
    return contents


@kind("KernelParamSpecs.runtime.talos.dev", "runtime.KernelParamConfigController")
def kernel_param_specs(machine: Machine) -> Contents:
    return {name: {"value": value} for name, value in _told(machine).items()}


def _told(machine: Machine) -> dict[str, str]:
    config = machine.config
    if config is None:
        return {}
    return {
        **{f"proc.sys.{name}": value for name, value in config.sysctls.items()},
        **{f"sys.{name}": value for name, value in config.sysfs.items()},
    }


@kind("LoadedKernelModules.runtime.talos.dev", "runtime.LoadedKernelModuleController")
def loaded_kernel_modules(machine: Machine) -> Contents:
    return {
        name: {
            "size": size,
            "referenceCount": len(dependencies),
            "dependencies": dependencies,
            "state": "Live",
            "address": "0x0000000000000000",
        }
        for name, (size, dependencies) in _modules(machine).items()
    }


@kind("KernelModuleStatuses.runtime.talos.dev", "runtime.KernelModuleStatusController")
def kernel_module_statuses(machine: Machine) -> Contents:
    return {
        name: {
            "type": "dynamic",
            "size": size,
            "referenceCount": len(dependencies),
            "dependencies": dependencies,
            "state": "live",
            "address": "0x0000000000000000",
        }
        for name, (size, dependencies) in _modules(machine).items()
    }


def _modules(machine: Machine) -> dict[str, tuple[int, list[str]]]:
    config = machine.config
    kernel_modules = config.kernel_modules if config is not None else ()
    names = [
        kernel_module.name
        for kernel_module in kernel_modules
        if can_load(machine, kernel_module.name)
    ]
    return {**_MODULES, **{name: (16384, []) for name in names}}


@kind("KernelModuleSpecs.runtime.talos.dev", "runtime.KernelModuleConfigController")
def kernel_module_specs(machine: Machine) -> Contents:
    config = machine.config
    kernel_modules = config.kernel_modules if config is not None else ()
    return {
        kernel_module.name: {
            "string": kernel_module.name,
            "parameters": list(kernel_module.parameters),
        }
        for kernel_module in kernel_modules
    }


@kind("WatchdogTimerConfigs.runtime.talos.dev", "runtime.WatchdogTimerConfigController")
def watchdog_timer_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None or config.watchdog is None:
        return {}
    device, timeout = config.watchdog
    return {"timer": {"device": device, "timeout": timeout}}


@kind("WatchdogTimerStatuses.runtime.talos.dev", "runtime.WatchdogTimerController")
def watchdog_timer_statuses(machine: Machine) -> Contents:
    from stockman_lab.talos.cosi.durations import duration_text, seconds_of

    config = machine.config
    if config is None or config.watchdog is None:
        return {}
    device, timeout = config.watchdog
    feed = duration_text(seconds_of(timeout) / 3)
    return {"timer": {"device": device, "timeout": timeout, "feedInterval": feed}}


@kind("Environments.runtime.talos.dev", "runtime.EnvironmentController")
def environments(machine: Machine) -> Contents:
    config = machine.config
    environment = config.environment if config is not None else {}
    return {"machined": {"variables": [f"{name}={value}" for name, value in environment.items()]}}


@kind("EventSinkConfigs.runtime.talos.dev", "runtime.EventsSinkConfigController")
def event_sink_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None or not config.event_sink:
        return {}
    return {"event-sink": {"endpoint": config.event_sink}}


@kind("KmsgLogConfigs.runtime.talos.dev", "runtime.KmsgLogConfigController")
def kmsg_log_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None or not config.kernel_logs:
        return {}
    return {
        "kmsg-log": {
            "destinations": [url_parts(kernel_log) for kernel_log in config.kernel_logs.values()]
        }
    }


@kind("ExtensionServiceConfigs.runtime.talos.dev", "runtime.ExtensionServiceConfigController")
def extension_service_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None:
        return {}
    return {
        extension_service.name: {
            "files": [
                {"content": content, "mountPath": path}
                for path, content in extension_service.files.items()
            ],
            "environment": list(extension_service.environment),
        }
        for extension_service in config.extension_services.values()
    }


@kind(
    "ExtensionServiceConfigStatuses.runtime.talos.dev",
    "runtime.ExtensionServiceConfigFilesController",
)
def extension_service_config_statuses(machine: Machine) -> Contents:
    config = machine.config
    extension_services = config.extension_services if config is not None else {}
    return {
        extension_service.name: {"specVersion": "1"}
        for extension_service in extension_services.values()
    }


@kind("KubernetesAccessConfigs.cluster.talos.dev", "kubeaccess.ConfigController")
def kubernetes_access_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None or not config.is_controlplane or not is_configured(machine):
        return {}
    features = config.features
    return {
        "config": {
            "enabled": features.talos_api_access,
            "allowedAPIRoles": list(features.talos_api_roles),
            "allowedKubernetesNamespaces": list(features.talos_api_namespaces),
        }
    }
