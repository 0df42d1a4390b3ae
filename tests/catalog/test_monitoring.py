"""Rules, monitors and dashboards: only where wanted, and only of metrics that exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import stockman.catalog
from stockman.catalog.component import Alert
from stockman.catalog.monitoring.alerts import (
    CLUSTER_ALERTS,
    ETCD_ALERTS,
    OUTSIDE_ALERTS,
    quorum_alerts,
)
from stockman.catalog.monitoring.dashboards import PANELS
from stockman.catalog.registry import components, names
from tests.catalog.estates import complaints, rendered
from tests.catalog.everything import EVERYTHING
from tests.catalog.looking import named, objects, text
from tests.catalog.promql import metric_names

METRICS = json.loads(Path(stockman.catalog.__file__).with_name("metrics.json").read_bytes())
ALERTS = [
    *(alert for component in components() for alert in component.alerts),
    *ETCD_ALERTS,
    *quorum_alerts(3),
    *OUTSIDE_ALERTS,
]
MONITORED: dict[str, object] = {"prometheus-operator-crds": {"enabled": True}}
KINDS = ("PrometheusRule", "ServiceMonitor", "PodMonitor", "ScrapeConfig")


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_an_alert_names_the_metrics_that_it_reads_and_all_exist(alert: Alert) -> None:
    assert metric_names(alert.expr) == set(alert.metrics)
    assert set(alert.metrics) <= set(METRICS)
    assert alert.summary.endswith(".")
    assert alert.severity in ("critical", "warning", "none")


def test_dashboards_read_metrics_that_exist() -> None:
    for panel in PANELS:
        assert metric_names(panel.expr) <= set(METRICS)
        assert not panel.needs or panel.needs in names()


def test_every_known_metric_has_a_source_and_is_used() -> None:
    used = {name for alert in ALERTS for name in alert.metrics}
    used |= {name for panel in PANELS for name in metric_names(panel.expr)}

    assert set(METRICS) == used
    for source in METRICS.values():
        assert source.keys() == {"component", "version", "path"}
        assert all(source.values())


def test_names_of_alerts_are_unique() -> None:
    repository = [alert.name for alert in ALERTS]

    assert sorted(set(repository)) == sorted(repository)


def test_without_monitoring_nothing_asks_for_its_kinds() -> None:
    repository = rendered()

    assert [item for kind in KINDS for item in objects(repository, kind)] == []
    for release in objects(repository, "HelmRelease"):
        assert "serviceMonitor': {'enabled': True" not in str(release)
        assert "podMonitor': {'enabled': True" not in str(release)


def test_rules_of_what_is_on_are_there_and_no_others() -> None:
    repository = rendered({"components": MONITORED})

    groups = [
        group["name"] for group in named(repository, "PrometheusRule", "stockman")["spec"]["groups"]
    ]

    assert "stockman-cluster" in groups
    assert "stockman-cilium" in groups
    assert "stockman-tuppr" not in groups
    assert "stockman-etcd" not in groups


def test_a_cluster_that_does_not_answer_is_noticed_inside_and_outside() -> None:
    assert "ClusterDown" in [alert.name for alert in CLUSTER_ALERTS]
    outside = [alert.name for alert in OUTSIDE_ALERTS]
    assert {"ClusterUnreachable", "ClusterNotWatched"} <= set(outside)


def test_the_control_plane_is_read_only_where_machines_show_it() -> None:
    assert objects(rendered({"components": MONITORED}), "ScrapeConfig") == []
    repository = rendered(EVERYTHING, preset="fifteen-node")

    etcd = named(repository, "ScrapeConfig", "etcd")["spec"]
    assert [len(static_config["targets"]) for static_config in etcd["staticConfigs"]] == [3]
    scheduler = named(repository, "Service", "kube-scheduler")["spec"]
    assert scheduler["selector"] == {"k8s-app": "kube-scheduler"}
    assert scheduler["ports"] == [{"name": "metrics", "port": 10259}]


@pytest.mark.parametrize(("controllers", "expected"), [(1, []), (3, ["<= 2"]), (5, ["<= 3"])])
def test_the_alert_about_the_quorum_knows_how_many_controllers_there_are(
    controllers: int, expected: list[str]
) -> None:
    assert [alert.expr[-4:] for alert in quorum_alerts(controllers)] == expected


def test_flux_substitutes_nothing_in_rules_and_dashboards() -> None:
    repository = rendered({"components": MONITORED})
    written = [
        named(repository, "PrometheusRule", "stockman"),
        named(repository, "ConfigMap", "stockman-dashboard-cluster"),
    ]

    for item in written:
        annotations = item["metadata"]["annotations"]
        assert annotations == {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}


def test_files_for_outside_hold_the_same_rules_and_more() -> None:
    repository = rendered(EVERYTHING, preset="fifteen-node")

    inside = named(repository, "PrometheusRule", "stockman")["spec"]["groups"]
    outside = yaml.safe_load(text(repository, "monitoring/rules.yaml"))["groups"]

    assert outside[1:] == inside
    assert outside[0]["name"] == "stockman-outside"


def test_jobs_that_rules_speak_of_are_in_the_example() -> None:
    repository = rendered(EVERYTHING, preset="fifteen-node")

    jobs = yaml.safe_load(text(repository, "monitoring/scrape.yaml"))["scrape_configs"]

    assert [job["job_name"] for job in jobs] == ["kubernetes-api", "talos-api", "apiserver", "etcd"]


def test_dashboards_are_json_that_grafana_takes() -> None:
    repository = rendered(EVERYTHING, preset="fifteen-node")

    for name in ("cluster", "etcd", "proxmox"):
        content = json.loads(text(repository, f"monitoring/dashboards/{name}.json"))
        positions = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in content["panels"]]
        assert len(set(positions)) == len(positions)
        assert content["uid"].startswith("stockman-")


def test_rules_that_would_go_nowhere_are_an_error() -> None:
    assert complaints({"components": {"monitoring": {"enabled": True}}}) == ["monitoring.nowhere"]


def test_api_servers_are_verified_with_the_ca_of_the_cluster() -> None:
    repository = rendered(EVERYTHING, preset="fifteen-node")
    for name in ("scrape", "blackbox"):
        content = text(repository, f"monitoring/{name}.yaml")

        assert "ca_file: cluster-ca.crt" in content
        assert "insecure_skip_verify" not in content


def test_files_for_outside_need_nothing_inside() -> None:
    repository = rendered(
        {"components": {"monitoring": {"enabled": True, "settings": {"outside": True}}}}
    )

    assert text(repository, "monitoring/rules.yaml")
    assert [item for kind in KINDS for item in objects(repository, kind)] == []
