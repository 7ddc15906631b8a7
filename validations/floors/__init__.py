"""Floors: the least value that a measurement of a suite must have on a card model. Data in floors.csv, and in a file of one's own.

A floor is a figure for large messages on a machine type; it holds only where its conditions are known to be met: the number of
cards, the size of the largest message, the machine type. Pure: no Django, and no I/O but the one file of this package.
"""

from __future__ import annotations

from validations.floors.lookup import floor_for
from validations.floors.table import COLUMNS, MOST_CHARACTERS, Floor, WrongFile, built_in, lines, parse, with_own

__all__ = ["COLUMNS", "MOST_CHARACTERS", "Floor", "WrongFile", "built_in", "floor_for", "lines", "parse", "with_own"]
