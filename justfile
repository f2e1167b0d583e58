# What can be done here. `.ci/run` does all that CI does; each recipe is one part of it, or longer.

set shell := ["bash", "-euo", "pipefail", "-c"]
cache := env("KUBEREEL_CACHE", env("HOME") / ".cache/kubereel")

# List the recipes.
default:
    @just --list

# Everything that CI checks.
ci:
    bash .ci/run

# Formatting, lints, docs and dependencies.
lint: tools
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items
    PATH="{{ cache }}/tools/bin:$PATH" cargo deny --workspace check bans licenses sources

# The cargo tools, in the cache folder.
tools:
    bash .ci/tools

# The real etcd, kube-apiserver, controller-manager and scheduler: 6 minutes the first time.
control-plane:
    bash tests/control-plane/build.sh

# The container image, built without a daemon or a registry and tried under an arbitrary user id.
image archive="": control-plane
    KUBEREEL_IMAGE_PROFILE=release KUBEREEL_IMAGE_ARCHIVE={{ archive }} bash .ci/image

# All tests; those against the real control plane run if it was built.
test:
    cargo test --workspace --no-fail-fast

# Plant secrets of every documented class, record them, and print by class what was hidden.
planted-secrets:
    cargo build -p kubereel
    cargo test -p kubereel-tests --test it observing::planted -- --nocapture

# Every fuzz target for its share of the time.
fuzz seconds="120": tools
    KUBEREEL_FUZZ_SECS={{ seconds }} bash .ci/fuzz

# Speed, size and memory beside their baselines, in one run; recordings as JSONL are measured too.
bench *files:
    cargo bench -p kubereel-format --bench codec -- {{ files }}
    cargo bench -p kubereel-redact --bench redact
    cargo bench -p kubereel-tests --bench recorder
    cargo bench -p kubereel-tests --bench queries
    cargo bench -p kubereel-tests --bench monitortests
    cargo bench -p kubereel-tests --bench tui

# The measures of a reel as an archive, with their aims and with baselines of the same run, as one table.
bench-archive *parts:
    cargo bench -p kubereel-tests --bench archive -- {{ parts }}

# The long runs: hundreds of kills, and the storm. Their dated report is committed.
soak *parts:
    bash .ci/soak {{ parts }}

# Damage reels at random, by the hundred thousand, and read what is left; continues where an earlier run ended.
mutations count="100000" secs="3600":
    cargo bench -p kubereel-format --bench mutations -- --mutations {{ count }} --secs {{ secs }} --state "${CARGO_TARGET_DIR:-$PWD/target}/mutations.state"

# Play faults of Kubernetes on the real control plane and judge what `kubereel problems` says of each.
diagnosis *args: control-plane
    bash .ci/diagnosis {{ args }}

# The same with the scenarios of an author who had not read the code.
diagnosis-independent *args: control-plane
    bash .ci/diagnosis --scenarios testdata/scenarios/diagnosis-independent.yaml --report docs/diagnosis-independent.md {{ args }}

# Record the demo's reel anew from the real control plane.
demo-reel: control-plane
    bash .ci/demo-reel

# Draw the pictures of the README anew from the real program.
pictures:
    mkdir -p docs/pictures
    cargo build --quiet -p kubereel
    cargo run --quiet -p kubereel-tui --example pictures -- docs/pictures "${CARGO_TARGET_DIR:-target}/debug/kubereel"

# Draw the animated picture of the README anew from the real program.
cast:
    mkdir -p docs/pictures
    cargo build --quiet -p kubereel
    cargo run --quiet -p kubereel-tui --example cast -- docs/pictures/cast.svg "${CARGO_TARGET_DIR:-target}/debug/kubereel"

# The files of a release: tarballs, checksums, and the manifests of krew and Homebrew if the url of the tarballs is given.
dist url="" profile="release":
    KUBEREEL_DIST_URL={{ url }} KUBEREEL_DIST_PROFILE={{ profile }} bash .ci/dist
