#!/usr/bin/env python3
"""Commands of gpudash: `manage.py help` lists them."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    from gpudash.config.env import BadSetting

    try:
        if sys.argv[1:] in (["--version"], ["version"]):
            from gpudash import __version__

            print(f"gpudash {__version__}")
            return
        from django.core.management import execute_from_command_line

        execute_from_command_line(sys.argv)
    except BadSetting as error:
        sys.exit(f"gpudash does not start: {error}")


if __name__ == "__main__":
    main()
