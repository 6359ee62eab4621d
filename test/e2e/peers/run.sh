#!/usr/bin/env bash
# Runs the tests against programs of others: `bash test/e2e/peers/run.sh [RESULTS.json]`. Builds those programs first, where Go is, and
# installs OpenTelemetry for Python, where Python and its registry are. Without them it runs what is there already and names every other
# test as not run. Fails when a test fails or Go can't build.
set -uo pipefail
cd "$(dirname "$0")/../../.."

config=test/e2e/peers/vitest.config.ts
results=${1:-}

# Test files of which a program is missing, as a pattern; empty when none is.
missing=''
reason='no Go, or no Python with its registry'
if command -v go >/dev/null; then
  node test/e2e/peers/build.mjs || exit 1
else
  missing=$(node test/e2e/peers/build.mjs --missing) || exit 1
fi

# OpenTelemetry for Python, in a folder of its own.
python=.cache/peers/python
otlp='opentelemetry-exporter-otlp-proto-http==1.45.2 opentelemetry-exporter-otlp-proto-grpc==1.45.2'
if [ "$(cat $python/version 2>/dev/null)" != "$otlp" ]; then
  rm -rf $python
  if ! { python3 -m venv $python && $python/bin/pip install -q $otlp && printf '%s' "$otlp" >$python/version; }; then
    missing=$(printf '%s\npython' "$missing")
  fi
fi

# What each test file needs: nearly all of them Jaeger.
files=()
skipped=()
for file in test/e2e/peers/*.peer.ts; do
  name=$(basename "$file" .peer.ts)
  case $name in
    python) needs='python' ;;
    jaeger | pass-through) needs='jaeger' ;;
    otelcol | faults) needs='jaeger|otelcol' ;;
    metrics) needs='otelcol' ;;
    altering) needs='jaeger|otelcol-altering' ;;
    *) printf 'run.sh does not know what %s needs\n' "$file" && exit 1 ;;
  esac
  if [ -n "$missing" ] && grep -qxE "$needs" <<<"$missing"; then skipped+=("$file"); else files+=("$file"); fi
done

if [ ${#skipped[@]} -gt 0 ]; then
  npx vitest list --config "$config" "${skipped[@]}" | while read -r test; do
    printf 'not run: %s (%s)\n' "${test#test/e2e/peers/}" "$reason"
  done
fi
[ ${#files[@]} -gt 0 ] || exit 0

reporters=(--reporter=default)
[ -z "$results" ] || reporters+=(--reporter=json "--outputFile.json=$results")
npx vitest run --config "$config" "${reporters[@]}" "${files[@]}"
