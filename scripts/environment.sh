# Sourced by scripts/demo, scripts/test and scripts/sanitized: makes the project's own virtual environment, once for
# each pyproject.toml and state of the compiled core. DEDUP_VENV names another place than .venv for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${DEDUP_VENV:-.venv}

for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "${python:-}" ]; then
    echo "Python 3.11 or later with the venv module is needed (Debian: apt install python3-venv)." >&2
    exit 2
fi

sources=$(find pyproject.toml CMakeLists.txt src -type f -not -name '*.pyc' | LC_ALL=C sort)
ready="$venv/.ready-$(cat $sources | cksum | tr ' ' '-')-$1"
if [ ! -e "$ready" ]; then
    case "${DEDUP_LANG:-${LC_ALL:-${LANG:-}}}" in
    zh*) echo "正在创建环境 $venv（仅此一次，约一分钟）……" >&2 ;;
    *) echo "making the environment $venv (once, about a minute) ..." >&2 ;;
    esac
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
    # no bytecode: it would lie where PYTHONPYCACHEPREFIX, below, does not look
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --editable ".[$1]"
    touch "$ready"
fi
PATH="$(cd "$venv/bin" && pwd):$PATH"
# Processes by the hundred start in the tests; none should compile the package's modules again.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX="$(cd "$venv" && pwd)/pycache"
