#!/bin/sh
# Builds the control plane of the tests once and prints the path of the binary.
#
# The binary's name holds a hash of everything it is made from, so an unchanged
# module costs milliseconds and a changed one is never served stale. Messages go
# to stderr; stdout is the path alone:
#
#     KUBEREEL_CONTROL_PLANE=$(tests/control-plane/build.sh) cargo test
#
# The first build takes about 6 minutes on two cores, 2.2 GB of memory and 3 GB
# of disk for Go's own caches. KUBEREEL_CACHE moves the binaries elsewhere.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cache=${KUBEREEL_CACHE:-$HOME/.cache/kubereel}/control-plane
cd "$here"

if ! command -v go >/dev/null; then
    echo "error: go is not installed; the control plane of the tests is built with it" >&2
    echo "hint: install Go $(sed -n 's/^go //p' go.mod) or later (https://go.dev/dl/) and put it on PATH" >&2
    exit 1
fi

if command -v sha256sum >/dev/null; then digest=sha256sum; else digest='shasum -a 256'; fi
toolchain=$(go env GOVERSION GOOS GOARCH)
hash=$({ echo "$toolchain"; cat go.mod go.sum main.go build.sh; } | $digest | cut -c1-16)
binary=$cache/control-plane-$hash

# The link is what the harness takes when no variable names a binary.
publish() {
    ln -sf "control-plane-$hash" "$cache/current.$$"
    mv -f "$cache/current.$$" "$cache/current"
    echo "$binary"
}

if [ -x "$binary" ]; then
    publish
    exit 0
fi

mkdir -p "$cache"
# Two builds at once would need twice the memory and save nobody time.
if command -v flock >/dev/null; then
    exec 9>"$cache/lock"
    flock 9
    if [ -x "$binary" ]; then
        publish
        exit 0
    fi
fi

echo "building the control plane of the tests; the first time this takes about 6 minutes" >&2
unfinished=$cache/unfinished.$$
trap 'rm -f "$unfinished"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Without these the API server says version v0.0.0-master+$Format:%H$.
release=$(sed -n 's/^[[:space:]]*k8s.io\/kubernetes \(v[0-9.]*\)$/\1/p' go.mod)
major=$(echo "$release" | cut -d. -f1 | tr -d v)
minor=$(echo "$release" | cut -d. -f2)
package=k8s.io/component-base/version
flags="-s -w -X $package.gitVersion=$release -X $package.gitMajor=$major -X $package.gitMinor=$minor"
flags="$flags -X $package.gitTreeState=clean -X $package.gitCommit=unknown -X $package.buildDate=1970-01-01T00:00:00Z"

# No VCS stamp: it would differ at every commit and fails in a checkout owned by another user.
CGO_ENABLED=0 go build -p 2 -trimpath -buildvcs=false -ldflags "$flags" -o "$unfinished" . >&2
mv -f "$unfinished" "$binary"
publish
