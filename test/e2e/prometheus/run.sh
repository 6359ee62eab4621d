#!/usr/bin/env bash
# Runs the tests against a real Prometheus and promtool: `bash test/e2e/prometheus/run.sh [RESULTS.json]`. They are Debian's package
# `prometheus`; on Debian it is a failure when they are missing, elsewhere the tests are named as not run.
set -uo pipefail
cd "$(dirname "$0")/../../.."

results=${1:-}
config=test/e2e/prometheus/vitest.config.ts

if ! command -v prometheus >/dev/null || ! command -v promtool >/dev/null; then
  if [ -e /etc/debian_version ]; then
    printf 'prometheus and promtool are missing; install them: apt-get install prometheus\n'
    exit 1
  fi
  npx vitest list --config "$config" | while read -r test; do
    printf 'not run: %s (no prometheus)\n' "${test#test/e2e/prometheus/}"
  done
  exit 0
fi

reporters=(--reporter=default)
[ -z "$results" ] || reporters+=(--reporter=json "--outputFile.json=$results")
npx vitest run --config "$config" "${reporters[@]}"
