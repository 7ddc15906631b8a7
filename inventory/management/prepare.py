"""`gpudash cluster prepare NAME --stack S [--output DIR] [--diff]`: what a cluster needs for a stack, and what of it is there.

It reads the cluster and writes files here; it never applies anything.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from inventory.management.arguments import chosen_clusters
from inventory.management.prepared_files import CannotWrite, write
from inventory.management.reading import read_cluster
from kube.client import ApiError, BadKubeconfig
from stacks.engine.preparing import Prepared, prepare, setup_of, setups
from stacks.engine.setup import Found
from wording.printable import one_line


def add_prepare_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--stack", required=True, choices=sorted(setups()), help="stack that allocates the cards")
    parser.add_argument("--output", metavar="DIR", help="write the files to this folder instead of printing them")
    parser.add_argument("--diff", action="store_true", help="print existing, missing and different objects")


def run_prepare(options: dict[str, Any], say: Callable[[str], object]) -> None:
    """Raises CommandError."""
    cluster, folder = chosen_clusters(options["name"])[0], options["output"]
    if folder is not None and not folder.strip():
        raise CommandError("--output must be a folder.")
    try:
        found, notes = read_cluster(cluster, setup_of(options["stack"]))
    except (BadKubeconfig, ApiError) as error:
        raise CommandError(str(error)) from None
    prepared = prepare(options["stack"], found)
    head = f"{cluster.name}: {options['stack']}, Kubernetes {one_line(found.version) or 'of unknown version'}"
    lines = [head, *_remarks(prepared, notes)]
    if options["diff"]:
        lines += _differences(prepared, found)
    elif folder is None:
        lines = [f"# {line}" for line in lines] + list(_files(prepared))
    if folder is not None:
        try:
            lines += write(Path(folder), cluster.name, options["stack"], prepared.files)
        except CannotWrite as error:
            raise CommandError(str(error)) from None
    say("\n".join(lines))


def _remarks(prepared: Prepared, notes: list[str]) -> Iterator[str]:
    for text in prepared.warnings:
        yield f"  warning: {one_line(text)}"
    for text in (*notes, *prepared.unseen):
        yield f"  {one_line(text)}"


def _differences(prepared: Prepared, found: Found) -> Iterator[str]:
    for one in prepared.ordered:
        says = f": {one_line(one.says)}" if one.says else ""
        yield f"  {one.state}: {one_line(one.what)}{says}"
    if prepared.agrees:
        yield "  no differences in the readable objects" if found.hidden else "  no differences"


def _files(prepared: Prepared) -> Iterator[str]:
    for file in prepared.files:
        yield f"\n# {file.name} ({file.kind}): {file.why}"
        if file.shows:
            yield f"# Current state: {file.shows}"
        yield file.text.rstrip("\n")
