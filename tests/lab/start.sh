#!/usr/bin/env bash
# Starts the lab: a real HDFS and a real Flink in one JVM, with a job that checkpoints into the resource namespace, and an
# embedded DolphinScheduler whose records have partly lost their files. Prints a configuration for `statewarden drift`.
# Ctrl-C ends everything. With --ha there are two NameNodes; then type `failover`.
set -euo pipefail
cd "$(dirname "$0")/../.."

for command in cargo javac mvn; do
    command -v "$command" >/dev/null || {
        echo "$command is missing; the lab needs Rust, a JDK (17 or later) and Maven" >&2
        exit 1
    }
done
exec cargo run --quiet --example lab -- "$@"
