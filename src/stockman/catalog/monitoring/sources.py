"""What Prometheus scrapes: objects for the control plane, and files for one outside of the cluster.

Machines expose metrics of the control plane only if a patch says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import Object, PlainFile, manifest
from stockman.catalog.component import ComponentContext
from stockman.catalog.monitoring.alerts import outside_groups
from stockman.catalog.monitoring.dashboards import dashboards
from stockman.catalog.monitoring.settings import MonitoringSettings
from stockman.config.writers.yaml_writer import render_yaml

SYSTEM = "kube-system"
"""Namespace of the control plane pods; a Service only selects pods of its own namespace."""
_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"
CONTROL_PLANE = {"kube-controller-manager": 10257, "kube-scheduler": 10259}
"""Control plane programs that run as pods, with their metrics ports."""
FOLDER = "monitoring"
_TALOS_API = 50000
_BLACKBOX = "127.0.0.1:9115"
_CLUSTER_TOKEN = "/etc/prometheus/cluster-token"
_CLUSTER_CA = "cluster-ca.crt"
"""Beside the configuration of Prometheus and of the blackbox exporter."""
_ABOUT = r"""# Monitoring from outside

- `rules.yaml`: alert rules; name the file under `rule_files` of Prometheus.
- `scrape.yaml`: an example of the jobs that the rules expect; copy what fits into
  `scrape_configs`. It reads the API servers with a token and asks through a blackbox exporter
  whether the cluster answers at all.
- `cluster-ca.crt`: create it beside the configuration of Prometheus and of the blackbox exporter,
  which verify the API servers with it:
  `kubectl get configmap kube-root-ca.crt -o jsonpath='{.data.ca\.crt}' > cluster-ca.crt`
- `blackbox.yaml`: the modules of that blackbox exporter.
- `dashboards/`: dashboards for Grafana.

These files are rendered: change the configuration, not them. A Prometheus outside sees what
happens inside only where it can reach it; figures of components come in through federation or
remote write from a Prometheus inside.
"""


def etcd_targets(context: ComponentContext) -> list[str]:
    """Return the metrics addresses of etcd, which does not run in a pod on Talos."""
    port = context.settings_as(MonitoringSettings).etcd_port
    return [f"{node.address.ip}:{port}" for node in context.desired.nodes if node.is_controller]


def control_plane_sources(context: ComponentContext) -> tuple[Object, ...]:
    """Return Services and monitors for the pods, and the addresses of etcd."""
    targets = [{"targets": etcd_targets(context)}]
    etcd = manifest(
        "monitoring.coreos.com/v1alpha1",
        "ScrapeConfig",
        "etcd",
        jobName="etcd",
        staticConfigs=targets,
    )
    pods = [item for name, port in CONTROL_PLANE.items() for item in _pod(name, port)]
    return (etcd, *pods)


def _pod(name: str, port: int) -> tuple[Object, Object]:
    labels: Object = {"app.kubernetes.io/name": name}
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "clusterIP": "None",
            "selector": {"k8s-app": name},
            "ports": [{"name": "metrics", "port": port}],
        },
    }
    endpoint = {
        "port": "metrics",
        "scheme": "https",
        # These programs create their own certificates.
        "tlsConfig": {"insecureSkipVerify": True},
        "bearerTokenFile": _TOKEN,
    }
    monitor = manifest(
        "monitoring.coreos.com/v1",
        "ServiceMonitor",
        name,
        jobLabel="app.kubernetes.io/name",
        selector={"matchLabels": labels},
        endpoints=[endpoint],
    )
    return service, monitor


def outside_files(context: ComponentContext) -> Iterator[PlainFile]:
    """Return rules, scrape jobs, blackbox modules and dashboards, if enabled in the settings."""
    if not context.settings_as(MonitoringSettings).outside:
        return
    yield PlainFile(path=f"{FOLDER}/README.md", text=_ABOUT)
    yield _yaml("rules.yaml", {"groups": outside_groups(context)})
    yield _yaml("scrape.yaml", {"scrape_configs": _jobs(context)})
    yield _yaml("blackbox.yaml", {"modules": _modules()})
    for name, text in dashboards(context).items():
        yield PlainFile(path=f"{FOLDER}/dashboards/{name}.json", text=text)


def _yaml(name: str, content: Object) -> PlainFile:
    return PlainFile(path=f"{FOLDER}/{name}", text=render_yaml(content))


def _jobs(context: ComponentContext) -> list[Object]:
    api = f"{context.cluster.kubernetes.api_addr}:6443"
    machines = [f"{node.address.ip}:{_TALOS_API}" for node in context.desired.nodes]
    controllers = [
        f"{node.address.ip}:6443" for node in context.desired.nodes if node.is_controller
    ]
    servers: Object = {
        "job_name": "apiserver",
        "scheme": "https",
        "tls_config": {"ca_file": _CLUSTER_CA},
        "authorization": {"credentials_file": _CLUSTER_TOKEN},
        "static_configs": [{"targets": controllers}],
    }
    jobs = [
        _probe("kubernetes-api", "kubernetes_api", [f"https://{api}/readyz"]),
        _probe("talos-api", "tcp_connect", machines),
        servers,
    ]
    if context.settings_as(MonitoringSettings).control_plane:
        jobs.append({"job_name": "etcd", "static_configs": [{"targets": etcd_targets(context)}]})
    return jobs


def _probe(name: str, module: str, targets: list[str]) -> Object:
    """Return a job that probes targets with the blackbox exporter."""
    return {
        "job_name": name,
        "metrics_path": "/probe",
        "params": {"module": [module]},
        "static_configs": [{"targets": targets}],
        "relabel_configs": [
            {"source_labels": ["__address__"], "target_label": "__param_target"},
            {"source_labels": ["__param_target"], "target_label": "instance"},
            {"target_label": "__address__", "replacement": _BLACKBOX},
        ],
    }


def _modules() -> Object:
    return {
        "kubernetes_api": {
            "prober": "http",
            "timeout": "5s",
            "http": {
                # A server that responds with 401 or 403 is alive.
                "valid_status_codes": [200, 401, 403],
                "tls_config": {"ca_file": _CLUSTER_CA},
            },
        },
        "tcp_connect": {"prober": "tcp", "timeout": "5s"},
    }
