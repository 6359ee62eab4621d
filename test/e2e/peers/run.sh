#!/usr/bin/env bash
# Runs the tests against programs of others: `bash test/e2e/peers/run.sh [RESULTS.json]`. Builds those programs first, where Go is.
# Without Go it runs what is built already and names every other test as not run. Fails when a test fails or Go can't build.
set -uo pipefail
cd "$(dirname "$0")/../../.."

config=test/e2e/peers/vitest.config.ts
results=${1:-}

# Test files of which a program is missing, as a pattern; empty when none is.
missing=''
reason='no Go'
if command -v go >/dev/null; then
  node test/e2e/peers/build.mjs || exit 1
else
  missing=$(node test/e2e/peers/build.mjs --missing) || exit 1
fi

# What each test file needs: nearly all of them Jaeger.
files=()
skipped=()
for file in test/e2e/peers/*.peer.ts; do
  name=$(basename "$file" .peer.ts)
  case $name in
    jaeger) needs='jaeger' ;;
    otelcol) needs='jaeger|otelcol' ;;
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
