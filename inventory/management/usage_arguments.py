"""The options that say where the exporters of a cluster are read."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from inventory.collect import sources
from inventory.collect.prometheus import BadAddress
from inventory.models import Cluster


def add_usage_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--prometheus", metavar="URL", help="Prometheus that scrapes the exporters of this cluster")
    parser.add_argument(
        "--prometheus-token-file", metavar="F", default="", help="file with a bearer token for Prometheus"
    )
    parser.add_argument("--prometheus-ca-file", metavar="F", default="", help="CA certificates for Prometheus")
    parser.add_argument(
        "--prometheus-header",
        metavar="'NAME: VALUE'",
        action="append",
        default=[],
        help="header for Prometheus, such as the tenant; may be repeated",
    )
    parser.add_argument(
        "--prometheus-match",
        metavar="MATCHERS",
        default="",
        help="label matchers for the series of this cluster, such as 'cluster=\"prod\"'",
    )
    parser.add_argument(
        "--exporters-directly",
        action="store_true",
        help="read exporter pods through the API server, for clusters without Prometheus and up to a few hundred nodes",
    )
    parser.add_argument(
        "--usage-every",
        "--prometheus-every",
        metavar="SECONDS",
        type=int,
        default=sources.EVERY_S,
        help=f"seconds between reads (default: {sources.EVERY_S})",
    )


def set_usage(cluster: Cluster, options: dict[str, Any]) -> str:
    """What was set, in words; "" where no way was named. Raises BadAddress."""
    if options["exporters_directly"]:
        if options["prometheus"]:
            raise BadAddress("Use either --prometheus URL or --exporters-directly, not both.")
        source = sources.set_direct(cluster, options["usage_every"])
        return f"exporter pods are read through the API server, every {source.every_s} s (deploy/exporters-role.yaml)"
    if not options["prometheus"]:
        given = [name for name in ("token_file", "ca_file", "header", "match") if options[f"prometheus_{name}"]]
        if given:
            raise BadAddress(f"--prometheus-{given[0].replace('_', '-')} requires --prometheus URL")
        return ""
    source = sources.set_prometheus(
        cluster,
        options["prometheus"],
        options["prometheus_token_file"],
        options["prometheus_ca_file"],
        options["prometheus_header"],
        options["prometheus_match"],
        options["usage_every"],
    )
    matching = f" where {source.matchers}" if source.matchers else ""
    return f"exporters are read from {source.address}{matching}, every {source.every_s} s"
