// HTTP_PROXY, HTTPS_PROXY and NO_PROXY as a person has them in a shell, asked once for a destination when it is written down. There is
// no standard; this is what curl and Go have in common (https://about.gitlab.com/blog/we-need-to-talk-no-proxy/ compares them).
import { isOnLoopback } from '../forward/endpoint.ts'

/** The proxy for a URL, or undefined. Loopback never goes through one, as in Go. */
export function proxyFor(url: string, env: NodeJS.ProcessEnv): string | undefined {
  if (!URL.canParse(url)) return undefined
  const parsed = new URL(url)
  const { protocol, hostname, port } = parsed
  const read = (name: string) => env[name] || env[name.toUpperCase()]
  // Upper-case HTTP_PROXY could be a request header of a CGI program; curl ignores it for that. We are none.
  const proxy = protocol === 'https:' ? read('https_proxy') : read('http_proxy')
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '')
  if (!proxy || isOnLoopback(parsed)) return undefined
  const own = port === '' ? (protocol === 'https:' ? '443' : '80') : port
  if ((read('no_proxy') ?? '').split(/[\s,]+/).some((entry) => excepts(entry.toLowerCase(), host, own)))
    return undefined
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`
}

/** Whether one entry of NO_PROXY means the host: `*`, an address, or a domain with all below it; one colon comes before a port. */
function excepts(entry: string, host: string, port: string): boolean {
  if (entry === '') return false
  if (entry === '*') return true
  const [name = '', only, ...more] = entry.split(':')
  if (more.length === 0 && only !== undefined && only !== port) return false
  const domain = more.length > 0 ? entry.replace(/^\[|\]$/g, '') : name.replace(/^\*?\./, '')
  return host === domain || host.endsWith(`.${domain}`)
}
