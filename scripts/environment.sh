# Sourced by scripts/demo, serve, test and sanitized: makes the project's own virtual environment, once for each
# pyproject.toml and state of the compiled core. DEDUP_VENV names another place than .venv for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${DEDUP_VENV:-.venv}
SECONDS=0

# Prints a line in the language of the user: in English, in Chinese.
say() {
    case "${DEDUP_LANG:-${LC_ALL:-${LANG:-}}}" in
    zh*) echo "$2" >&2 ;;
    *) echo "$1" >&2 ;;
    esac
}

# What pip does, as it does it: its stages with the seconds so far, and each package.
show_stages() {
    local line
    while IFS= read -r line; do
        case $line in
        *"Installing build dependencies: started")
            say "[$SECONDS s] fetching build tools" "[$SECONDS 秒] 下载构建工具" ;;
        *"Installing backend dependencies: started")
            say "[$SECONDS s] fetching a build's other tools" "[$SECONDS 秒] 下载编译工具" ;;
        Collecting*)
            line=${line#Collecting }
            say "[$SECONDS s] package ${line%% (*}" "[$SECONDS 秒] 软件包 ${line%% (*}" ;;
        *"Building editable for dedup-job"*started)
            say "[$SECONDS s] compiling the core, one to three minutes" "[$SECONDS 秒] 编译核心，需要一到三分钟" ;;
        *"still running"*)
            say "[$SECONDS s] still at it" "[$SECONDS 秒] 仍在进行" ;;
        "Installing collected packages"*)
            say "[$SECONDS s] installing the packages" "[$SECONDS 秒] 安装软件包" ;;
        esac
    done
}

for candidate in "$venv/bin/python" ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "${python:-}" ]; then
    say "Python 3.11 or later is needed (Debian, Ubuntu: sudo apt install python3-venv python3-dev)." \
        "需要 Python 3.11 以上（Debian、Ubuntu：sudo apt install python3-venv python3-dev）。"
    exit 2
fi

sources=$(find pyproject.toml CMakeLists.txt src -type f -not -name '*.pyc' | LC_ALL=C sort)
ready="$venv/.ready-$(cat $sources | cksum | tr ' ' '-')-$1"
if [ ! -e "$ready" ]; then
    # What the machine lacks is said at once, and before anything is downloaded.
    missing='' packages=''
    need() {
        "$python" -c "$3" 2>/dev/null || { missing="${missing:+$missing, }$1" packages="$packages $2"; }
    }
    [ -x "$venv/bin/python" ] || need venv python3-venv 'import ensurepip, venv'
    need Python.h python3-dev 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")'
    case ",$1,$(uname -sm)" in
    *,embedded,*"Linux x86_64")  # of the MongoDB server that comes from the package index
        command -v mongod >/dev/null || need libcurl.so.4 libcurl4 'import ctypes; ctypes.CDLL("libcurl.so.4")' ;;
    esac
    if [ "$missing" ]; then
        say "This machine lacks $missing (Debian, Ubuntu: sudo apt install$packages)." \
            "这台机器缺少 $missing（Debian、Ubuntu：sudo apt install$packages）。"
        exit 2
    fi
    say "making the environment $venv with $("$python" --version), once; it takes a few minutes" \
        "正在用 $("$python" --version) 创建环境 $venv，仅此一次，需要几分钟"
    if ! command -v "${CXX:-c++}" g++ clang++ >/dev/null; then
        say "there is no C++ compiler here: the package ziglang brings one for the build (100 MB)" \
            "这台机器没有 C++ 编译器：构建时使用软件包 ziglang 中的编译器（100 MB）"
    fi
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
    # no bytecode: it would lie where PYTHONPYCACHEPREFIX, below, does not look
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-compile --progress-bar off --editable ".[$1]" |
        show_stages
    say "[$SECONDS s] the environment is ready" "[$SECONDS 秒] 环境已就绪"
    touch "$ready"
fi
PATH="$(cd "$venv/bin" && pwd):$PATH"
# Processes by the hundred start in the tests; none should compile the package's modules again.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX="$(cd "$venv" && pwd)/pycache"
