// GET /metrics, /livez and /readyz, on the address of the OTLP listener and under its rules: this machine only, and no web pages.
import { Hono } from 'hono'
import { OPENMETRICS_TYPE, TEXT_TYPE } from './prometheus.ts'
import type { Ready } from './readiness.ts'

export interface TelemetryDoor {
  /** `open`: as OpenMetrics. */
  metrics(open: boolean): Promise<string>
  ready(): Promise<Ready>
}

const PATHS: ReadonlySet<string> = new Set(['/metrics', '/livez', '/readyz'])
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/i

/** Whether a request is for this app. */
export function isTelemetryPath(pathname: string): boolean {
  return PATHS.has(pathname)
}

export function telemetryApp(door: TelemetryDoor): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    // A web page can reach loopback, also under a name of its own (DNS rebinding), but can't change these headers.
    if (!LOOPBACK.test(c.req.header('host') ?? ''))
      return c.text('the Host header must name this machine as loopback\n', 403)
    if (c.req.header('origin') !== undefined) return c.text('requests of web pages are not taken\n', 403)
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD')
      return c.text('only GET and HEAD are taken\n', 405, { allow: 'GET, HEAD' })
    return next()
  })
  app.get('/metrics', async (c) => {
    const open = /application\/openmetrics-text/i.test(c.req.header('accept') ?? '')
    return c.body(await door.metrics(open), 200, { 'content-type': open ? OPENMETRICS_TYPE : TEXT_TYPE })
  })
  // Whoever can answer this is alive: that is all it says.
  app.get('/livez', (c) => c.text('alive\n'))
  app.get('/readyz', async (c) => {
    const ready = await door.ready()
    return c.json(ready, ready.ready ? 200 : 503)
  })
  return app
}
