"""Alert rules are judged by Prometheus: it takes all of them, and the important ones fire."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.catalog.estates import rendered
from tests.catalog.everything import EVERYTHING
from tests.catalog.looking import named, text
from tools.pytest_plugin import RealTool

ALIVE, DEAD = "1x200", "0x200"
FIRES = {
    "ClusterDown": {},
    "ClusterUnreachable": {'probe_success{job="kubernetes-api", instance="api"}': DEAD},
    "ClusterNotWatched": {},
    "NodeNotReady": {
        'kube_node_status_condition{condition="Ready", status="true", node="a"}': DEAD
    },
    "EtcdNoLeader": {'etcd_server_has_leader{job="etcd", instance="a"}': DEAD},
    "EtcdQuorumAtRisk": {
        'up{job="etcd", instance="a"}': ALIVE,
        'up{job="etcd", instance="b"}': ALIVE,
        'up{job="etcd", instance="c"}': DEAD,
    },
    "EtcdBackupNeverMade": {
        'kube_cronjob_created{cronjob="talos-backup", namespace="b"}': "-200000x200"
    },
    "EtcdBackupMissing": {
        'kube_cronjob_status_last_successful_time{cronjob="talos-backup"}': "-200000x200"
    },
    "CertificateEndsSoon": {
        "certmanager_certificate_expiration_timestamp_seconds"
        '{name="a", exported_namespace="b"}': "100000x200"
    },
}
"""Series that make an alert fire."""
QUIET = {
    "ClusterDown": {'up{job="apiserver", instance="a"}': ALIVE},
    "ClusterUnreachable": {'probe_success{job="kubernetes-api", instance="api"}': ALIVE},
    "ClusterNotWatched": {'probe_success{job="kubernetes-api", instance="api"}': ALIVE},
    "EtcdBackupNeverMade": {
        'kube_cronjob_created{cronjob="talos-backup", namespace="b"}': "-200000x200",
        'kube_cronjob_status_last_successful_time{cronjob="talos-backup", namespace="b"}': ALIVE,
    },
    "EtcdQuorumAtRisk": {f'up{{job="etcd", instance="{one}"}}': ALIVE for one in "abc"},
}
"""Series that keep it quiet."""


@pytest.fixture(scope="module")
def rules() -> str:
    return text(rendered(EVERYTHING, preset="fifteen-node"), "monitoring/rules.yaml")


def test_promtool_accepts_the_rules_for_outside(
    real_tool: RealTool, rules: str, tmp_path: Path
) -> None:
    (tmp_path / "rules.yaml").write_text(rules)

    assert promtool(real_tool, "check", "rules", str(tmp_path / "rules.yaml"))


def test_promtool_accepts_the_rules_of_the_cluster(real_tool: RealTool, tmp_path: Path) -> None:
    inside = named(rendered(EVERYTHING, preset="fifteen-node"), "PrometheusRule", "stockman")
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(inside["spec"]))

    assert promtool(real_tool, "check", "rules", str(tmp_path / "rules.yaml"))


def test_promtool_accepts_the_example_of_jobs(
    real_tool: RealTool, rules: str, tmp_path: Path
) -> None:
    found = rendered(EVERYTHING, preset="fifteen-node")
    token = tmp_path / "token"
    token.write_text("a token")
    jobs = text(found, "monitoring/scrape.yaml").replace(
        "/etc/prometheus/cluster-token", str(token)
    )
    (tmp_path / "rules.yaml").write_text(rules)
    (tmp_path / "prometheus.yaml").write_text(f"{jobs}rule_files: [rules.yaml]\n")

    assert promtool(real_tool, "check", "config", str(tmp_path / "prometheus.yaml"))


@pytest.mark.parametrize("alert", FIRES)
def test_the_alert_fires(real_tool: RealTool, rules: str, tmp_path: Path, alert: str) -> None:
    assert fired(real_tool, rules, tmp_path, alert, FIRES[alert])


@pytest.mark.parametrize("alert", QUIET)
def test_the_alert_is_quiet_while_all_is_well(
    real_tool: RealTool, rules: str, tmp_path: Path, alert: str
) -> None:
    assert not fired(real_tool, rules, tmp_path, alert, QUIET[alert])


def fired(
    real_tool: RealTool, rules: str, tmp_path: Path, alert: str, series: dict[str, str]
) -> bool:
    """Whether an alert is there after three hours of these series."""
    (tmp_path / "rules.yaml").write_text(rules)
    question = {
        "rule_files": ["rules.yaml"],
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": name, "values": values} for name, values in series.items()
                ],
                "promql_expr_test": [
                    {
                        "expr": f'count(ALERTS{{alertname="{alert}", alertstate="firing"}})',
                        "eval_time": "3h",
                        "exp_samples": [{"labels": "{}", "value": 1}],
                    }
                ],
            }
        ],
    }
    (tmp_path / "question.yaml").write_text(yaml.safe_dump(question))
    return promtool(real_tool, "test", "rules", str(tmp_path / "question.yaml"), quiet=True)


def promtool(real_tool: RealTool, *arguments: str, quiet: bool = False) -> bool:
    done = subprocess.run(
        [real_tool("promtool"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert quiet or done.returncode == 0, done.stdout + done.stderr
    return done.returncode == 0
