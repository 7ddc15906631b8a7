#!/usr/bin/env python3
"""Stands in for nvidia-smi: answers from a recording, in the form in which the tool prints.

RECORDING (environment): a JSON object, field → [its heading with the unit, the value of each card]. Only what the exporter asks.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main(asked: list[str]) -> int:
    recording = json.loads(Path(os.environ["RECORDING"]).read_text())
    if asked == ["--help-query-gpu"]:
        print('List of valid properties to query for the switch "--query-gpu=":')
        for field in recording:
            print(f'\n"{field}"\nOf a card.')
        return 0
    if asked == ["--version"]:
        print("NVIDIA-SMI version  : 570.148.08\nCUDA Version        : 12.8")
        return 0
    fields = next((one.partition("=")[2].split(",") for one in asked if one.startswith("--query-gpu=")), [])
    unknown = [field for field in fields if field not in recording and field != "timestamp"]
    if not fields or unknown or "--format=csv" not in asked:
        print(f'Field "{(unknown or ["?"])[0]}" is not a valid field to query.')
        return 2
    columns = [recording.get(field, ["timestamp", *["2026/06/01 10:00:00.000"] * 2]) for field in fields]
    for row in zip(*columns, strict=True):
        print(", ".join(row))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
