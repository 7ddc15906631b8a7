"""`python -m tests.docs.verdicts`: writes docs/reference/verdicts.md from the log patterns that the suites declare.

Knows the declarations and nothing of runs. A test compares the file with what this would write, and
`tests/validations/suites/test_phrases.py` holds the declarations to what the suites do.
"""

from __future__ import annotations

from collections import Counter

from tests.processes import ROOT
from validations.suites import registry
from validations.suites.engine.base import Suite
from validations.suites.engine.phrases import Phrase

PAGE = ROOT / "docs" / "reference" / "verdicts.md"

HEAD = """\
# Log patterns by suite

<!-- Written by `python -m tests.docs.verdicts` from validations/suites; do not edit. -->

Each suite derives its verdict from these log patterns. A pass needs the suite's success line and exit code 0. A log without that
line and without a pattern below is errored (`no-verdict`). If several patterns match, the worst decides: failed, then errored,
then warning. A row stands for all lines that contain its text. Conditions that fixed text cannot express (a number that is zero,
a name that is not a GPU's) are described.

*failed*: the hardware, driver or adapter reported a fault. *errored*: the test did not complete. *warning*: passed, with a
warning. The codes are those of [reasons.md](reasons.md). Before parsing, gpudash removes time stamps, the prefix of `kubectl logs
--prefix`, colours, carriage returns and Windows encodings.
"""
SHARED = "Errors of CUDA, HIP and NCCL"
_TITLES = ("Pattern", "Verdict", "Reason", "Meaning", "Source")


def page() -> str:
    """The whole page, as Markdown: a section for each suite, then the patterns that several of them share."""
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
    more = " Errors that several suites know: [below](#errors-of-cuda-hip-and-nccl)." if alike else ""
    rows = [_row(phrase, suite.source) for phrase in phrases]
    rows += [
        (f"exit code {number}", code.severity, f"`{code.code}`", _sentence(code.text), suite.source)
        for number, code in sorted(suite.exits.items())
    ]
    return [
        f"## {suite.id}\n",
        f"Success line: {_code(suite.proof)} ({suite.source}).{more}\n",
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
