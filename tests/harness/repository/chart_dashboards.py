"""The Grafana dashboards of the chart."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from streamapp_operator.controller.telemetry import operator_metrics as operator
from streamapp_runtime.driver.reporting import run_metrics as driver
from tests.harness.repository.dashboard_panels import APPS, OPERATOR, Panel

WIDTH, HEIGHT = 8, 8
"""Of a panel; Grafana's grid is 24 wide."""


def of_operator() -> str:
    """The dashboard of the operator."""
    variables = [_SOURCE, _variable("namespace", operator.LEADING.name)]
    return _text("StreamApp operator", "streamapp-operator", OPERATOR, variables)


def of_apps() -> str:
    """The dashboard of apps."""
    known = driver.INCARNATION.name  # every driver has one from its start
    variables = [
        _SOURCE,
        _variable("namespace", known),
        _variable("app", f'{known}{{namespace=~"$namespace"}}'),
    ]
    return _text("StreamApps", "streamapp-apps", APPS, variables)


def _text(title: str, uid: str, panels: Sequence[Panel], variables: list[dict[str, Any]]) -> str:
    board = {
        "title": title,
        "uid": uid,
        "tags": ["streamapp"],
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": variables},
        "panels": list(_panels(panels)),
    }
    return json.dumps(board, indent=2, ensure_ascii=False) + "\n"


def _panels(panels: Sequence[Panel]) -> Iterator[dict[str, Any]]:
    for index, panel in enumerate(panels):
        row, column = divmod(index, 24 // WIDTH)
        yield {
            "id": index + 1,
            "type": "timeseries",
            "title": panel.title,
            "description": panel.about,
            "datasource": {"type": "prometheus", "uid": "${source}"},
            "gridPos": {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT},
            "fieldConfig": {"defaults": _field(panel), "overrides": []},
            "options": {
                "legend": {"showLegend": True, "displayMode": "list", "placement": "bottom"},
                "tooltip": {"mode": "multi", "sort": "desc"},
            },
            "targets": [
                {"refId": chr(ord("A") + number), "expr": query.text, "legendFormat": query.legend}
                for number, query in enumerate(panel.queries)
            ],
        }


def _field(panel: Panel) -> dict[str, Any]:
    return {"unit": panel.unit, "min": 0} | ({"decimals": 0} if panel.few else {})


def _variable(name: str, of: str) -> dict[str, Any]:
    asked = f"label_values({of}, {name})"
    return {
        "name": name,
        "type": "query",
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "definition": asked,
        "query": {"query": asked, "refId": name},
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


_SOURCE: dict[str, Any] = {"name": "source", "type": "datasource", "query": "prometheus"}
