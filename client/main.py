"""The command line of `kubectl gpudash`. Exit codes: 0 done; 1 failed or refused; 2 wrong use."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TextIO

from . import access
from .failures import Failed
from .options import Parser, common
from .server import Server
from .text import Look, Table, look_of, one_line, rendered, without_tokens
from .told import Told
from .verbs import VERBS

#: As a shell reports a process that Ctrl-C has ended.
INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> int:
    """words: without the program; None: those of the process. Returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        asked = parser().parse_args(words)
        server = Server(access.server_address(asked.server), access.token(asked.token_file), asked.ca_file)
        told, lines = _told(server, asked)
        for line in lines:
            print(line)
        _print(told.notes, sys.stderr)
        sys.stdout.flush()
        return told.code
    except Failed as error:
        _print([f"error: {error}"], sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Who reads has seen enough; the interpreter must not write to it again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser() -> Parser:
    made = Parser(
        prog="kubectl gpudash",
        description="Ask gpudash: free capacity, allocations, pending pods, GPU software, validations.",
        allow_abbrev=False,
    )
    verbs = made.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, verb in VERBS.items():
        own = verbs.add_parser(name, help=verb.HELP, description=verb.__doc__, parents=[common()], allow_abbrev=False)
        verb.arguments(own)
    return made


def _told(server: Server, asked: Namespace) -> tuple[Told, list[str]]:
    """With what is printed. Raises Failed, also where an answer has another form than the verb knows."""
    try:
        told = VERBS[asked.verb].run(server, asked)
        return told, list(_lines(told, asked.form, look_of(sys.stdout, asked.form == "wide")))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise Failed(
            f"{server.address} has another version than this program: the answer cannot be read ({reason})"
        ) from None


def _lines(told: Told, form: str, look: Look) -> Iterator[str]:
    if form == "json":
        # Escapes in JSON stand for the same characters.
        yield from map(one_line, json.dumps(told.answer, indent=2, ensure_ascii=False).split("\n"))
        return
    for part in told.lines:
        yield from rendered(part, look) if isinstance(part, Table) else [one_line(part)]


def _print(lines: Sequence[str], stream: TextIO) -> None:
    for line in lines:
        print(without_tokens(one_line(line)), file=stream)
