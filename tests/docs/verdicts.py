"""`python -m tests.docs.verdicts`: writes docs/verdicts.md from what the suites declare of the logs that they read.

Knows the declarations and nothing of runs. A test compares the file with what this would write, and
`tests/validations/suites/test_phrases.py` holds the declarations to what the suites do.
"""

from __future__ import annotations

from collections import Counter

from tests.processes import ROOT
from validations.suites import registry
from validations.suites.engine.base import Suite
from validations.suites.engine.phrases import Phrase

PAGE = ROOT / "docs" / "verdicts.md"

HEAD = """\
# What a log says

<!-- Written by `python -m tests.docs.verdicts` from validations/suites; do not edit. -->

By which texts of a log each suite comes to its verdict. Only the line that proves it makes a pass, and only with exit code 0; what is
not in a table and keeps that line away ends as errored (`no-verdict`). Of several the worst decides: failed, then errored, then
warning. A row stands for all lines that have its words; what words cannot say (a number that is zero, a name that is no GPU's) is
described.

*failed* is a "no" of hardware, driver or adapter; *errored* a test that could not be carried out; *warning* a pass that deserves a
look. The codes are those of [reasons.md](reasons.md). Before a log is read, its time stamps, the prefix of `kubectl logs --prefix`,
colours, carriage returns and Windows' encodings are taken off.
"""
SHARED = "Errors of CUDA"
_TITLES = ("The log says", "Verdict", "Reason", "It means", "Read in")


def page() -> str:
    """The whole page, as Markdown: a section for each suite, then what several of them read alike."""
    seen = Counter(_key(phrase) for suite in registry().values() for phrase in suite.phrases)
    parts = [HEAD]
    shared: dict[tuple[str, ...], Phrase] = {}
    for suite in registry().values():
        alike = [phrase for phrase in suite.phrases if seen[_key(phrase)] > 1]
        shared |= {_key(phrase): phrase for phrase in alike}
        parts += _section(suite, [phrase for phrase in suite.phrases if phrase not in alike], bool(alike))
    parts += [f"## {SHARED}\n", *_table([_row(phrase, "") for phrase in shared.values()])]
    return "\n".join(parts) + "\n"


def _section(suite: Suite, phrases: list[Phrase], alike: bool) -> list[str]:
    more = " The messages of CUDA are in [a table of their own](#errors-of-cuda)." if alike else ""
    rows = [_row(phrase, suite.source) for phrase in phrases]
    rows += [
        (f"exit code {number}", code.severity, f"`{code.code}`", _sentence(code.text), suite.source)
        for number, code in sorted(suite.exits.items())
    ]
    return [
        f"## {suite.id}\n",
        f"Passes on {_code(suite.proof)} ({suite.source}).{more}\n",
        *_table(rows),
        "",
    ]


def _key(phrase: Phrase) -> tuple[str, ...]:
    return (phrase.words, phrase.code, phrase.meaning, phrase.severity, phrase.source)


def _row(phrase: Phrase, source: str) -> tuple[str, ...]:
    said = _code(phrase.words.strip())
    return (said, phrase.severity, f"`{phrase.code}`", _sentence(phrase.meaning), phrase.source or source)


def _sentence(text: str) -> str:
    text = text.removesuffix(".")
    return f"{text[:1].upper()}{text[1:]}."


def _code(text: str) -> str:
    marks = "``" if "`" in text else "`"
    return f"{marks}{text}{marks}"


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    lines = [_TITLES, ("---",) * len(_TITLES), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {sum(len(suite.phrases) for suite in registry().values())} rows")
