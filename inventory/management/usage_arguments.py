"""The options that say where the exporters of a cluster are read."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from inventory.collect import sources
from inventory.collect.prometheus import BadAddress
from inventory.models import Cluster


def add_usage_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--prometheus", metavar="URL", help="the Prometheus that scrapes this cluster's exporters")
    parser.add_argument("--prometheus-token-file", metavar="F", default="", help="a file with a bearer token for it")
    parser.add_argument("--prometheus-ca-file", metavar="F", default="", help="the certificates to trust for it")
    parser.add_argument(
        "--prometheus-header",
        metavar="'NAME: VALUE'",
        action="append",
        default=[],
        help="a header for it, such as the tenant's; may be given again",
    )
    parser.add_argument(
        "--prometheus-match",
        metavar="MATCHERS",
        default="",
        help="""label matchers that choose this cluster's series, such as 'cluster="prod"'""",
    )
    parser.add_argument(
        "--exporters-directly",
        action="store_true",
        help="read the exporters' pods by the API server: for clusters without Prometheus, of a few hundred nodes",
    )
    parser.add_argument(
        "--usage-every",
        "--prometheus-every",
        metavar="SECONDS",
        type=int,
        default=sources.EVERY_S,
        help=f"seconds from one round to the next (default: {sources.EVERY_S})",
    )


def set_usage(cluster: Cluster, options: dict[str, Any]) -> str:
    """What was set, in words; "" where no way was named. Raises BadAddress."""
    if options["exporters_directly"]:
        if options["prometheus"]:
            raise BadAddress("--prometheus URL and --exporters-directly are two ways: give one of them")
        source = sources.set_direct(cluster, options["usage_every"])
        return f"its exporters' pods are read by the API server, every {source.every_s} s (deploy/exporters-role.yaml)"
    if not options["prometheus"]:
        given = [name for name in ("token_file", "ca_file", "header", "match") if options[f"prometheus_{name}"]]
        if given:
            raise BadAddress(f"--prometheus-{given[0].replace('_', '-')} wants --prometheus URL beside it")
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
    return f"its exporters are read from {source.address}{matching}, every {source.every_s} s"
