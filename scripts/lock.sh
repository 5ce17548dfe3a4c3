#!/bin/sh
# Compile lock/ from pyproject.toml: lock.sh UV [--upgrade]
#
# Requirement files with hashes, not uv.lock: that one would carry the address of a registry. They hold
# for every platform and Python from 3.11 on.
set -eu
uv=$1
shift

compile() {
    target=$1
    shift
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
        --no-annotate --no-emit-index-url --output-file "$target" "$@"
}

compile lock/uv.txt --group lock "$@"
compile lock/core.txt pyproject.toml --group build "$@"
compile lock/dev.txt pyproject.toml --all-extras --constraints lock/core.txt \
    --group build --group test --group lint --group docs "$@"
