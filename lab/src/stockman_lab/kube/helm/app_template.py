"""The general chart `app-template`, whose values say what it holds."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.helm.short_forms import Made
from stockman_lab.kube.helm.values import merged
from stockman_lab.kube.objects import Object, part_of

_CONTROLLER = "app.kubernetes.io/controller"
_KINDS = {
    "deployment": ("apps/v1", "Deployment"),
    "daemonset": ("apps/v1", "DaemonSet"),
    "statefulset": ("apps/v1", "StatefulSet"),
    "job": ("batch/v1", "Job"),
    "cronjob": ("batch/v1", "CronJob"),
}
_POD_OPTIONS = (
    "nodeSelector",
    "tolerations",
    "affinity",
    "priorityClassName",
    "hostNetwork",
    "securityContext",
    "topologySpreadConstraints",
    "terminationGracePeriodSeconds",
)


def objects(made: Made) -> list[Object]:
    """What the values ask for."""
    return [*_controllers(made), *_services(made), *_maps(made)]


def _enabled(made: Made, name: str) -> list[tuple[str, Object, str]]:
    """Entries of a part of the values with the names of their objects."""
    found = {
        key: one
        for key, one in part_of(made.scope.values, name).items()
        if isinstance(one, dict) and one.get("enabled", True)
    }
    full = made.scope.names["name"]
    return [
        (key, one, full if len(found) == 1 else f"{full}-{one.get('nameOverride') or key}")
        for key, one in found.items()
    ]


def _controllers(made: Made) -> Iterator[Object]:
    options = part_of(made.scope.values, "defaultPodOptions")
    for key, told, name in _enabled(made, "controllers"):
        version, kind = _KINDS.get(str(told.get("type", "deployment")), _KINDS["deployment"])
        match = {_CONTROLLER: key, **made.selector}
        pod = merged(options, told.get("pod") or {})
        labels = {**match, **(pod.get("labels") or {})}
        inner: Object = {"metadata": {"labels": labels}, "spec": _pod(told, pod)}
        if pod.get("annotations"):
            inner["metadata"]["annotations"] = pod["annotations"]
        about: Object = {"name": name, "labels": {**made.labels, _CONTROLLER: key}}
        if told.get("annotations"):
            about["annotations"] = told["annotations"]
        yield {
            "apiVersion": version,
            "kind": kind,
            "metadata": about,
            "spec": _spec(kind, told, match, inner),
        }


def _spec(kind: str, content: Object, match: Object, inner: Object) -> Object:
    if kind in {"Job", "CronJob"}:
        inner["spec"].setdefault("restartPolicy", "Never")
    if kind == "Job":
        return {"template": inner}
    if kind == "CronJob":
        cron = part_of(content, "cronjob")
        return {
            "schedule": cron.get("schedule", "*/20 * * * *"),
            "suspend": bool(cron.get("suspend")),
            "concurrencyPolicy": cron.get("concurrencyPolicy", "Forbid"),
            "jobTemplate": {"spec": {"template": inner}},
        }
    spec: Object = {"selector": {"matchLabels": match}, "template": inner}
    if kind != "DaemonSet":
        spec["replicas"] = content.get("replicas", 1)
    if kind == "Deployment":
        spec["strategy"] = {"type": content.get("strategy", "Recreate")}
    if kind == "StatefulSet":
        spec["serviceName"] = str(content.get("serviceName") or "")
    return spec


def _pod(content: Object, options: Object) -> Object:
    founds: Object = {name: options[name] for name in _POD_OPTIONS if options.get(name)}
    for name, part in (("initContainers", "initContainers"), ("containers", "containers")):
        containers = [_container(*item) for item in part_of(content, part).items() if item[1]]
        if containers:
            founds[name] = containers
    return founds


def _container(name: str, content: Object) -> Object:
    image = part_of(content, "image")
    container: Object = {
        "name": content.get("nameOverride") or name,
        "image": f"{image.get('repository', '')}:{image.get('tag', 'latest')}",
    }
    env = content.get("env")
    if isinstance(env, dict):
        container["env"] = [_variable(*item) for item in env.items()]
    for part in ("args", "command", "envFrom", "resources", "securityContext"):
        if content.get(part):
            container[part] = content[part]
    for kind in ("liveness", "readiness", "startup"):
        probe = part_of(content, "probes", kind)
        if probe.get("enabled") and probe.get("spec"):
            container[f"{kind}Probe"] = probe["spec"]
    return container


def _variable(name: str, value: object) -> Object:
    if isinstance(value, dict):
        return {"name": name, **(value if "valueFrom" in value else {"valueFrom": value})}
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return {"name": name, "value": shown}


def _services(made: Made) -> Iterator[Object]:
    for key, told, name in _enabled(made, "service"):
        ports = [
            {
                "name": port,
                "port": int(one.get("port", 80)),
                "targetPort": one.get("targetPort") or int(one.get("port", 80)),
                "protocol": "UDP" if one.get("protocol") == "UDP" else "TCP",
            }
            for port, one in part_of(told, "ports").items()
        ]
        controllers = _enabled(made, "controllers")
        owner = told.get("controller") or (controllers[0][0] if controllers else key)
        spec: Object = {"ports": ports, "selector": {_CONTROLLER: owner, **made.selector}}
        if told.get("type"):
            spec["type"] = told["type"]
        labels = {**made.labels, "app.kubernetes.io/service": name}
        about = {"name": name, "labels": labels}
        yield {"apiVersion": "v1", "kind": "Service", "metadata": about, "spec": spec}


def _maps(made: Made) -> Iterator[Object]:
    for _, told, name in _enabled(made, "configMaps"):
        about = {"name": name, "labels": dict(made.labels)}
        data = told.get("data") or {}
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": data}
