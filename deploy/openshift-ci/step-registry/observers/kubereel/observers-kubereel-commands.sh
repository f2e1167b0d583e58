#!/bin/bash

set -o nounset
set -o errexit
set -o pipefail

# Bash gets the signals and does not pass them on: the recorder takes its place.
exec kubereel observe --grace 10m
