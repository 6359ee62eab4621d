// The home folder's layout: where everything of one machine's collector lies. Paths only; nothing here touches a file.

export interface HomePaths {
  root: string
  config: string
  policy: string
  /** What is listening where: JSON, the OTLP address first. */
  endpoint: string
  keys: string
  logKey: string
  recordKey: string
  idSecret: string
  /** The token of the http hooks, where they are installed. */
  httpToken: string
  /** Passphrase-protected keys of approvers. */
  approverKeys: string
  log: string
  checkpoint: string
  /** Every checkpoint ever signed, one JSON string a line. */
  checkpoints: string
  vault: string
  /** What is being erased from the vault, while it is. */
  erasure: string
  forward: string
  index: string
  /** Sockets, lock and start-up log of the running collector. */
  run: string
  lock: string
  startLog: string
  /** What the last verification of this home said. */
  verified: string
  bin: string
  /** What `init` wrote into agents' settings: needed to notice changes and to undo them. */
  installs: string
}

/** Paths under an absolute home folder. */
export function homePaths(root: string): HomePaths {
  const at = (path: string) => `${root}/${path}`
  return {
    root,
    config: at('config.yaml'),
    policy: at('policy.yaml'),
    endpoint: at('endpoint.json'),
    keys: at('keys'),
    logKey: at('keys/log.pem'),
    recordKey: at('keys/record.pem'),
    idSecret: at('keys/ids.secret'),
    httpToken: at('keys/http.token'),
    approverKeys: at('approvers'),
    log: at('log'),
    checkpoint: at('log/checkpoint'),
    checkpoints: at('log/checkpoints.jsonl'),
    vault: at('vault'),
    erasure: at('run/erasure.json'),
    forward: at('forward'),
    index: at('spanseal.duckdb'),
    run: at('run'),
    lock: at('run/collector.lock'),
    startLog: at('run/start.log'),
    verified: at('run/verified.json'),
    bin: at('bin'),
    installs: at('installs.json'),
  }
}

/** Longest path a Unix socket may have on every system we run on (macOS: 104 bytes with the final NUL). */
export const MAX_SOCKET_PATH_BYTES = 103

/** Socket paths: in the home, or, where that is too long for a socket, in `fallbackDir` (the caller makes and checks it). */
export function socketPaths(home: HomePaths, fallbackDir: string): { hook: string; admin: string; dir: string } {
  const longest = new TextEncoder().encode(`${home.run}/admin.sock`).length
  const dir = longest <= MAX_SOCKET_PATH_BYTES ? home.run : fallbackDir
  return { hook: `${dir}/hook.sock`, admin: `${dir}/admin.sock`, dir }
}
