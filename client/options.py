"""Options that several verbs have."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import NoReturn

from .failures import Misused

MOST_ROWS = 10_000


class Parser(ArgumentParser):
    """Raises Misused; its text repeats what was typed."""

    def error(self, message: str) -> NoReturn:
        raise Misused(f"{message}. See: {self.prog} --help")


def common() -> Parser:
    """Of every verb: where to ask, and how to print."""
    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--server", metavar="URL", help="address of gpudash (GPUDASH_SERVER)")
    parser.add_argument(
        "--token-file", metavar="FILE", help="file with the token (GPUDASH_TOKEN_FILE; ~/.config/gpudash/token)"
    )
    parser.add_argument("--ca-file", metavar="FILE", help="PEM file of the CAs to trust instead of the system's")
    parser.add_argument("--cluster", metavar="NAME", help="only this cluster")
    parser.add_argument(
        "-o", dest="form", choices=("table", "wide", "json"), default="table", help="form of the output"
    )
    return parser


def add_limit(parser: ArgumentParser, default: int = 100) -> None:
    parser.add_argument("--limit", metavar="N", type=_rows, default=default, help=f"rows at most (default: {default})")


def _rows(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MOST_ROWS:
        return int(text)
    raise ArgumentTypeError(f"must be 1 to {MOST_ROWS}")
