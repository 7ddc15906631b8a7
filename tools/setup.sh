#!/usr/bin/env bash
# Make .venv/, static/vendor/ and .tools/browser/ from their lock files. Needs Python 3.11 or later; brings uv along where it is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."

python=$(command -v python3 || true)
if [ -z "$python" ] || ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "gpudash needs Python 3.11 or later as python3 (found: ${python:-none}). On Debian: apt-get install python3 python3-venv" >&2
  exit 1
fi

uv=$(command -v uv || true)
if [ -z "$uv" ] || ! "$uv" --version >/dev/null 2>&1; then
  uv=.tools/bin/uv
  if [ ! -x "$uv" ]; then
    "$python" -m venv .tools 2>/dev/null || {
      echo "python3 has no venv module. On Debian: apt-get install python3-venv" >&2; exit 1; }
    .tools/bin/python -m pip install -q --disable-pip-version-check --only-binary :all: --require-hashes -r tools/uv.txt
  fi
fi

[ -x .venv/bin/python ] || "$uv" venv -q --python "$python" .venv
# Compiled now: a process that may not write beside its code would compile all of it at each start.
"$uv" pip sync -q --compile-bytecode --python .venv/bin/python --require-hashes requirements-dev.lock

.venv/bin/python tools/browser_packages.py --tests
