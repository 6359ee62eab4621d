// Would an agent's own request to 127.0.0.1 go through a proxy? Claude Code takes one from its environment, and from `env` of any of its
// settings, a project's too; the proxy then gets token and content, and its answer is believed. Seen with Claude Code 2.1.332.

const PROXIES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY']
const EXCEPTIONS = ['no_proxy', 'NO_PROXY']

/**
 * Name of the variable that sends requests to 127.0.0.1 elsewhere; null when none does. `part`: these variables are laid over others that
 * are not known, so a list of exceptions without 127.0.0.1 counts by itself.
 */
export function proxyOf(env: Readonly<Record<string, unknown>>, part = false): string | null {
  const lists = EXCEPTIONS.filter((name) => typeof env[name] === 'string')
  const short = lists.find(
    (name) =>
      !String(env[name])
        .split(/[\s,]+/)
        .some((host) => host === '*' || host === '127.0.0.1'),
  )
  const proxy = PROXIES.find((name) => typeof env[name] === 'string' && env[name] !== '')
  if (proxy === undefined) return part ? (short ?? null) : null
  return lists.length === 0 || short !== undefined ? proxy : null
}
