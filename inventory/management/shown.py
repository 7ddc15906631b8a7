"""The base of our commands: what they print moves no cursor and colours nothing, whoever wrote the names and texts in it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, OutputWrapper

from audit.who import acting, command
from wording.printable import visible


class Shown(OutputWrapper):
    """A stream of a command. Styles of the command itself (red errors) come after and stay."""

    def write(self, msg: Any = "", style_func: Any = None, ending: Any = None) -> Any:
        return super().write(visible(str(msg)), style_func, ending)


class ShownCommand(BaseCommand):
    """Prints through `visible`, errors included. A text that must stay on its line goes through `one_line` besides."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.stdout = _shown(self.stdout)
        self.stderr = _shown(self.stderr)

    def execute(self, *args: Any, **options: Any) -> str | None:
        if out := options.pop("stdout", None):
            self.stdout = Shown(out)
        if out := options.pop("stderr", None):
            self.stderr = Shown(out)
        with acting(command()):  # for the audit log
            return super().execute(*args, **options)


def _shown(stream: OutputWrapper) -> Shown:
    out: Any = stream._out
    made = Shown(out)
    made.style_func = stream.style_func
    return made


def add_output(parser: ArgumentParser, *more: str, json: str = "", default: str = "text") -> None:
    """`-o text|json`, in `options["output"]`. more: other forms. json: what the JSON is, for the help."""
    told = f"form of the output; json: {json}" if json else "form of the output"
    parser.add_argument("-o", "--output", choices=("text", "json", *more), default=default, help=told)
