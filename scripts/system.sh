#!/bin/sh
# Check for what pip cannot install; install it where that is allowed, else say in one line what to do.
#
#   scripts/system.sh python PYTHON    Python 3.11 or later with the venv module
#   scripts/system.sh java             Java 17 or later, for Spark
#   scripts/system.sh node             Node, which runs the exported JavaScript
#   scripts/system.sh chromium         Chromium, which the browser tests drive
set -eu

fail() {
    echo "$1" >&2
    exit 1
}

# apt_install PACKAGE: as root, or with a sudo that asks no password
apt_install() {
    command -v apt-get >/dev/null || return 1
    if [ "$(id -u)" = 0 ]; then
        as_root="env DEBIAN_FRONTEND=noninteractive"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        as_root="sudo -n env DEBIAN_FRONTEND=noninteractive"
    else
        return 1
    fi
    echo "Installing $1 with apt-get."
    $as_root apt-get update -qq >/dev/null 2>&1 || true # an old list may still do
    $as_root apt-get install -y -qq --no-install-recommends "$1" >/dev/null 2>&1
}

java_works() {
    for java in "${JAVA_HOME:-/none}/bin/java" "$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
        [ -x "$java" ] || continue
        major=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
        [ "${major:-0}" -ge 17 ] && return 0
    done
    return 1
}

case ${1:-} in
python)
    python=$2
    command -v "$python" >/dev/null || fail "$python is missing: install Python 3.11 or later, or name one with make PYTHON=..."
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "$python is older than 3.11: install a later Python and name it with make PYTHON=..."
    "$python" -c 'import ensurepip' 2>/dev/null || apt_install python3-venv ||
        fail "$python cannot make environments: run apt-get install python3-venv"
    ;;
java)
    java_works || { apt_install openjdk-17-jre-headless && java_works; } ||
        fail "Spark needs Java 17 or later: run apt-get install openjdk-17-jre-headless"
    ;;
node)
    command -v node >/dev/null || { apt_install nodejs && command -v node >/dev/null; } ||
        fail "the JavaScript of a model is run by Node: run apt-get install nodejs"
    ;;
chromium)
    command -v chromium >/dev/null || { apt_install chromium && command -v chromium >/dev/null; } ||
        fail "the pages are tested in Chromium: run apt-get install chromium"
    ;;
*)
    fail "usage: scripts/system.sh python PYTHON | java | node | chromium"
    ;;
esac
