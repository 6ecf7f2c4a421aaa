#!/bin/sh
# Makes everything the sandbox needs, once: the Python environment here, the rest in dev/bootstrap.py.
# Safe to run again at any time: a step that is done costs nothing. Progress goes to standard error.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
sandbox=${DBAAS_SANDBOX_DIR:-$root/.sandbox}
venv=$sandbox/venv
log=$sandbox/logs/bootstrap.log
umask 077
mkdir -p "$sandbox/logs"

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "error: $*"
    exit 1
}

# The last lines of the log tell more than an exit status.
fail_with_log() {
    tail -n 15 "$log" >&2
    fail "$* (all of it: $log)"
}

# ansible-core 2.18 runs on Python 3.11 to 3.13.
fits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; }
has_pip() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

find_python() {
    found=
    for name in ${DBAAS_PYTHON:-python3 python3.13 python3.12 python3.11 /usr/bin/python3}; do
        path=$(command -v "$name") && fits "$path" || continue
        if has_pip "$path"; then
            found=$path
            return
        fi
        found=${found:-$path}
    done
    [ -n "$found" ] || fail "no Python 3.11 to 3.13 on PATH (python3, python3.13, python3.12, python3.11);" \
        "install one, for example: apt-get install python3 python3-venv"
}

# Debian splits pip off Python. Root installs it; anybody else fetches the package and takes the wheel out.
make_venv() {
    rm -rf "$venv"
    if ! has_pip "$found" && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "      installing the package python3-venv"
        version=$("$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
            "python$version-venv"; } >>"$log" 2>&1 </dev/null || true
    fi
    if has_pip "$found"; then
        "$found" -m venv "$venv" >>"$log" 2>&1 || fail_with_log "python -m venv failed"
        return
    fi
    "$found" -m venv --without-pip "$venv" >>"$log" 2>&1 || fail_with_log "python -m venv failed"
    command -v apt-get >/dev/null || fail "$found has neither pip nor ensurepip; install its venv package"
    say "      fetching pip from the package python3-pip-whl"
    "$root/dev/unpack.sh" "$sandbox/pip" python3-pip-whl >>"$log" 2>&1 || fail_with_log "python3-pip-whl wasn't to be had"
    wheel=$(find "$sandbox/pip" -name 'pip-*.whl' | head -n 1)
    [ -n "$wheel" ] || fail "no pip wheel in the package python3-pip-whl"
    "$venv/bin/python" "$wheel/pip" install --no-index "$wheel" >>"$log" 2>&1 || fail_with_log "pip can't install itself"
}

wanted=$(cat "$root/requirements.txt" "$root/requirements-dev.txt" | cksum)
# Only one bootstrap at a time; a second one waits here and then finds all done.
exec 9>"$sandbox/bootstrap.lock"
if command -v flock >/dev/null; then flock 9; fi

if [ "$(cat "$venv/.complete" 2>/dev/null)" != "$wanted" ]; then
    find_python
    say "[1/6] Python: $found"
    # An environment that was half made, or was made by a Python that is gone, is made anew.
    if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then make_venv; fi
    rm -f "$venv/.complete"
    say "[2/6] Python packages: installing into $venv (about 2 minutes, once)"
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --quiet \
        -r "$root/requirements-dev.txt" >>"$log" 2>&1 </dev/null || fail_with_log "pip install failed"
    printf '%s\n' "$wanted" >"$venv/.complete"
fi

cd "$root"
exec "$venv/bin/python" -m dev.bootstrap
