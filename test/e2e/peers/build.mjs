// Fetches and builds, with Go, the programs of others that the peer tests run: `node test/e2e/peers/build.mjs [NAME...]`.
// They lie in .cache/peers/bin; what was built from the same versions and components before is left as it is.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'yaml'

/** The newest version that the Go module proxy serves; it holds Jaeger 2.13 (`cmd/jaeger`) beside the old 1.76 programs. */
const JAEGER = 'v1.76.0'
/** One release for all of the OpenTelemetry Collector: its unstable modules, and its stable ones. */
const COLLECTOR = 'v0.161.0'
const COLLECTOR_STABLE = 'v1.67.0'
/** Milliseconds for one program on a cold cache; Jaeger takes most of it. */
const BUILD_MS = 30 * 60_000

const CORE = 'go.opentelemetry.io/collector'
const CONTRIB = 'github.com/open-telemetry/opentelemetry-collector-contrib'

/** Go module of each component that one of our configurations may name, by kind and type. */
const MODULES = {
  receivers: { otlp: `${CORE}/receiver/otlpreceiver` },
  processors: {
    memory_limiter: `${CORE}/processor/memorylimiterprocessor`,
    tail_sampling: `${CONTRIB}/processor/tailsamplingprocessor`,
    attributes: `${CONTRIB}/processor/attributesprocessor`,
    redaction: `${CONTRIB}/processor/redactionprocessor`,
    transform: `${CONTRIB}/processor/transformprocessor`,
  },
  exporters: { otlp_http: `${CORE}/exporter/otlphttpexporter` },
  extensions: {
    health_check: `${CONTRIB}/extension/healthcheckextension`,
    file_storage: `${CONTRIB}/extension/storage/filestorage`,
  },
}

const cache = resolve('.cache/peers')
const bin = `${cache}/bin`

/** Programs by name: `key` changes when another one has to be built, `build` throws when it can't be. */
const PROGRAMS = {
  jaeger: { key: JAEGER, build: () => goProgram('jaeger', `github.com/jaegertracing/jaeger/cmd/jaeger@${JAEGER}`) },
  otelcol: collectorProgram('otelcol', ['otel-config.yaml']),
  'otelcol-altering': collectorProgram('otelcol-altering', ['otel-config.yaml', 'test/e2e/peers/altering.yaml']),
}

/** A collector of exactly the components that the configurations name. */
function collectorProgram(name, configs) {
  const manifest = collectorManifest(name, configs)
  return {
    key: JSON.stringify(manifest),
    build: () => {
      if (!existsSync(`${bin}/builder-${COLLECTOR}`)) {
        goProgram(`builder-${COLLECTOR}`, `${CORE}/cmd/builder@${COLLECTOR}`)
      }
      const file = `${cache}/${name}.json`
      writeFileSync(file, JSON.stringify(manifest, null, 1))
      run(`${bin}/builder-${COLLECTOR}`, ['--config', file], cache)
      run('mv', [`${cache}/${name}/${name}`, `${bin}/${name}`], cache)
    },
  }
}

/** What the Collector's builder is told; the file is JSON, which is YAML too. */
function collectorManifest(name, configs) {
  const manifest = {
    dist: { name, module: `peers.local/${name}`, version: COLLECTOR.slice(1), output_path: `./${name}` },
    providers: ['env', 'file', 'yaml'].map((kind) => ({
      gomod: `${CORE}/confmap/provider/${kind}provider ${COLLECTOR_STABLE}`,
    })),
  }
  const parsed = configs.map((file) => parse(readFileSync(file, 'utf8')))
  for (const [kind, modules] of Object.entries(MODULES)) {
    const types = new Set(parsed.flatMap((config) => Object.keys(config[kind] ?? {})).map((id) => id.split('/')[0]))
    manifest[kind] = [...types].map((type) => {
      if (modules[type] === undefined)
        throw new Error(`${configs.join(', ')}: no Go module is known for ${type} in ${kind}`)
      return { gomod: `${modules[type]} ${COLLECTOR}` }
    })
  }
  return manifest
}

/** Builds one main package of a module, as a tool of an empty module, since its own go.mod may hold replacements. */
function goProgram(name, packageAtVersion) {
  const folder = `${cache}/${name}`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/go.mod`, `module peers.local/${name}\n\ngo 1.26\n`)
  run('go', ['get', '-tool', packageAtVersion], folder)
  run('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', `${bin}/${name}`, packageAtVersion.split('@')[0]], folder)
}

/** Runs a command at low priority: compiling must not slow down whatever else the machine does. Throws with its output. */
function run(command, args, cwd) {
  const { status, signal, stdout, stderr, error } = spawnSync('nice', ['-n', '15', command, ...args], {
    cwd,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' },
    encoding: 'utf8',
    timeout: BUILD_MS,
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status === 0) return
  const said = `${stdout}${stderr}`.split('\n').slice(-20).join('\n')
  throw new Error(`${command} ${args[0]} ended with ${error?.message ?? signal ?? status}\n${said}`)
}

function stampOf(key) {
  return createHash('sha256').update(key).digest('hex')
}

function isBuilt(name, key) {
  const stamp = `${bin}/${name}.stamp`
  return existsSync(`${bin}/${name}`) && existsSync(stamp) && readFileSync(stamp, 'utf8') === stampOf(key)
}

mkdirSync(bin, { recursive: true })
const [first, ...others] = process.argv.slice(2)
if (first === '--missing') {
  // Names what a build would have to make.
  for (const [name, { key }] of Object.entries(PROGRAMS)) if (!isBuilt(name, key)) console.log(name)
} else {
  for (const name of first === undefined ? Object.keys(PROGRAMS) : [first, ...others]) {
    const program = PROGRAMS[name]
    if (program === undefined)
      throw new Error(`no such program: ${name}; there are ${Object.keys(PROGRAMS).join(', ')}`)
    if (isBuilt(name, program.key)) continue
    const started = Date.now()
    console.log(`building ${name}`)
    program.build()
    writeFileSync(`${bin}/${name}.stamp`, stampOf(program.key))
    console.log(`built ${name} in ${Math.round((Date.now() - started) / 1000)} s`)
  }
}
