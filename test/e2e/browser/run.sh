#!/usr/bin/env bash
# Runs the tests in a browser: `bash test/e2e/browser/run.sh [RESULTS.json]`. Needs Debian's chromium; without it each is named as not run.
set -uo pipefail
cd "$(dirname "$0")/../../.."

config=test/e2e/browser/vitest.config.ts
results=${1:-}
if ! command -v chromium >/dev/null; then
  npx vitest list --config "$config" | while read -r test; do
    printf 'not run: %s (no chromium)\n' "${test#test/e2e/browser/}"
  done
  exit 0
fi
reporters=(--reporter=default)
[ -z "$results" ] || reporters+=(--reporter=json "--outputFile.json=$results")
SPANSEAL_TEST_CHROMIUM=$(command -v chromium) npx vitest run --config "$config" "${reporters[@]}"
