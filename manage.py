#!/usr/bin/env python3
"""Commands of gpudash: `manage.py help` lists them. An installed wheel has the same as `gpudash`."""

import os
import sys
from pathlib import Path


def words(given: list[str]) -> list[str]:
    """The command line as Django takes it: `upgrade-check` is `upgrade_check`, since no module has a hyphen in its name."""
    program, *rest = given
    if rest and not rest[0].startswith("-"):
        rest[0] = rest[0].replace("-", "_")
    return [program, *rest]


def main() -> None:
    # In a wheel all of this folder is in `gpudash_app/`, and Python does not look for packages there by itself.
    folder = str(Path(__file__).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    from validations.certificate import offline

    # Before any setting is read: a certificate is verified where there is no installation.
    if offline.takes(sys.argv[1:]):
        sys.exit(offline.main(sys.argv[2:]))
    from gpudash.config.env import BadSetting

    try:
        if sys.argv[1:] in (["--version"], ["version"]):
            from gpudash import __version__

            print(f"gpudash {__version__}")
            return
        from django.core.management import execute_from_command_line

        execute_from_command_line(words(sys.argv))
    except BadSetting as error:
        sys.exit(f"gpudash does not start: {error}")


if __name__ == "__main__":
    main()
