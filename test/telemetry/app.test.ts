// Who may not send to the listener may not ask it about itself either.
import { expect, it } from 'vitest'
import { telemetryApp } from '../../collector/telemetry/app.ts'

it('asks the listener’s own rule first: without its token nothing is even looked up', async () => {
  let asked = 0
  const door = {
    metrics: async () => `${asked++}`,
    ready: async () => ({ ready: asked++ === 0, reasons: [] }),
  }
  const withToken = (request: Request) =>
    request.headers.get('authorization') === 'Bearer T'
      ? null
      : ({ status: 401, message: 'a token is needed' } as const)
  const app = telemetryApp(door, withToken)
  for (const path of ['/metrics', '/livez', '/readyz']) {
    const refused = await app.request(path)
    expect([refused.status, await refused.text()]).toEqual([401, 'a token is needed\n'])
  }
  expect(asked).toBe(0)
  expect((await app.request('/metrics', { headers: { authorization: 'Bearer T' } })).status).toBe(200)
})
