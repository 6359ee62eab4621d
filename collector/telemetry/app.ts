// GET /metrics, /livez and /readyz, on the address of the OTLP listener and under its rules.
import { Hono } from 'hono'
import { OPENMETRICS_TYPE, TEXT_TYPE } from './prometheus.ts'
import type { Ready } from './readiness.ts'

export interface TelemetryDoor {
  /** `open`: as OpenMetrics. */
  metrics(open: boolean): Promise<string>
  ready(): Promise<Ready>
}

const PATHS: ReadonlySet<string> = new Set(['/metrics', '/livez', '/readyz'])

/** Why a request is not answered; null when it is. */
type Admit = (request: Request) => { status: 400 | 401 | 403 | 404; message: string } | null

/** Whether a request is for this app. */
export function isTelemetryPath(pathname: string): boolean {
  return PATHS.has(pathname)
}

/** `admit`: the listener's own rule of who may ask. */
export function telemetryApp(door: TelemetryDoor, admit: Admit): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    const refusal = admit(c.req.raw)
    if (refusal !== null) return c.text(`${refusal.message}\n`, refusal.status)
    // No page has a reason to read these, not even one of the same address.
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
