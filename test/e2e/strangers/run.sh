#!/usr/bin/env bash
# Runs the verifiers that share no code with us: `bash test/e2e/strangers/run.sh [RESULTS.json]`. Builds the Go one and installs the
# Python one's only library, where Go and Python are; what is missing is named as not run. Fails when a test fails.
set -uo pipefail
cd "$(dirname "$0")/../../.."

config=test/e2e/strangers/vitest.config.ts
results=${1:-}
cache=$PWD/.cache/strangers
mkdir -p "$cache"
files=()
skipped=()

if command -v go >/dev/null; then
  (cd test/e2e/strangers/tiles && CGO_ENABLED=0 nice -n 15 go build -trimpath -buildvcs=false -o "$cache/tiles" .) || exit 1
  files+=(test/e2e/strangers/tiles.stranger.ts)
else
  skipped+=("test/e2e/strangers/tiles.stranger.ts:no Go")
fi

# The Python that has the library: the machine's own, else one in a folder of ours.
python=
if command -v python3 >/dev/null; then
  if python3 -c 'import cryptography' 2>/dev/null; then
    python=$(command -v python3)
  elif [ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv" 2>/dev/null; then
    "$cache/venv/bin/python" -m pip install -q --disable-pip-version-check -r test/e2e/strangers/requirements.txt || exit 1
    python=$cache/venv/bin/python
  fi
fi
if [ -n "$python" ]; then
  export SPANSEAL_TEST_PYTHON=$python
  files+=(test/e2e/strangers/python.stranger.ts)
else
  skipped+=("test/e2e/strangers/python.stranger.ts:no Python with venv")
fi

for entry in "${skipped[@]+"${skipped[@]}"}"; do
  npx vitest list --config "$config" "${entry%%:*}" | while read -r test; do
    printf 'not run: %s (%s)\n' "${test#test/e2e/strangers/}" "${entry#*:}"
  done
done
[ ${#files[@]} -gt 0 ] || exit 0

reporters=(--reporter=default)
[ -z "$results" ] || reporters+=(--reporter=json "--outputFile.json=$results")
npx vitest run --config "$config" "${reporters[@]}" "${files[@]}"
