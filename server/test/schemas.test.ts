import { expect, test } from 'vitest'
import { addManagementRoutes, addPublicRoutes, type RouteDeps } from '../src/app/routes.ts'
import { systemClock } from '../src/platform/clock.ts'
import { createHttp } from '../src/platform/http/index.ts'
import { createValidatorCompiler } from '../src/platform/http/validators.ts'
import { createMetrics } from '../src/platform/metrics.ts'
import { silentLog } from './service.ts'

test('every schema of every route compiles, though the service compiles each only when it is needed', async () => {
  const metrics = createMetrics()
  const { app, routes } = createHttp({
    clock: systemClock,
    log: silentLog(),
    metrics,
    trustedProxies: [],
    managementAllow: [],
    requestLogLevel: 'debug',
    guards: { operator: () => undefined, scope: () => undefined },
    onRefusal: () => undefined,
    publicUrl: () => '',
  })
  // Registering routes needs only metrics, so the dependencies of handlers are missing.
  const open = { metricsAccess: 'public', referenceAccess: 'public' } as const
  const deps = { ...open, metrics } as Partial<RouteDeps> as RouteDeps
  addPublicRoutes(app, deps)
  addManagementRoutes(app, deps)
  const compile = createValidatorCompiler()
  let compiled = 0
  for (const { method, url, schema } of routes)
    for (const httpPart of ['body', 'querystring', 'params'] as const) {
      const part = schema?.[httpPart]
      if (!part) continue
      const validate = compile({ schema: part, httpPart, method: String(method), url } as never) as (
        data: unknown,
      ) => unknown
      expect(() => validate({}), `${method} ${url} ${httpPart}`).not.toThrow()
      compiled++
    }
  expect(compiled).toBeGreaterThan(100)
})
