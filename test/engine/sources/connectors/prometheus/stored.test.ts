/** Sources of Prometheus in a real engine: polled, stored, and what an outage leaves of them. */
import { expect, it } from 'vitest'
import { ME, setup } from '../../polling/setup.ts'
import { failure, success, upstreamServer, vector } from '../upstream-server.ts'

it('a value is stored as a number label, and a query that fails is told on the health', async () => {
  const { engine, until, health } = setup()
  const server = await upstreamServer(({ body }) =>
    new URLSearchParams(body).get('query') === 'up'
      ? vector([{ __name__: 'up', service: 'pay' }, '0.5'])
      : failure(400, 'bad_data', 'parse error'),
  )
  const labels = [
    { name: 'service', field: 'metric.service', primary: true },
    { name: 'value', field: 'value', type: 'number' },
  ]
  const config = { url: server.url, queries: [{ promql: 'up' }, { promql: 'sum(' }], labels }
  await engine.createSource({ name: 'metrics', connector: 'prometheus', config }, ME, false)
  await until(1)
  expect(await engine.sourceEvents('metrics', 10)).toMatchObject([
    {
      entity: { label: 'service', value: 'pay' },
      labels: { service: 'pay', value: 0.5 },
      event_type: 'metric',
    },
  ])
  expect(await health('metrics')).toMatchObject({
    status: 'ok',
    notice: 'Query 2 (sum(): Prometheus refuses the request (400): parse error.',
  })
})

it('an outage resolves no alert, and its end stores none again', async () => {
  const { engine, time, asleep, until, health, texts } = setup()
  const firing = success({
    alerts: [
      {
        labels: { alertname: 'Slow', service: 'pay' },
        annotations: {},
        state: 'firing',
        activeAt: new Date(time.now() - 1_000).toISOString(),
        value: '1',
      },
    ],
  })
  const server = await upstreamServer(() => firing)
  const config = { url: server.url, labels: [{ name: 'service', field: 'service', primary: true }] }
  await engine.createSource({ name: 'alerts', connector: 'prometheus_alerts', poll: '5s', config }, ME, false)
  const next = async (count: number) => {
    time.advance(await asleep())
    await until(count)
  }
  await until(1)
  server.answer = () => ({ body: { alerts: [] } })
  await next(2)
  expect(await health('alerts')).toMatchObject({
    status: 'error',
    last_error: 'What answers at this address is not Prometheus. Check url.',
  })
  server.answer = () => firing
  await next(3)
  expect(await health('alerts')).toMatchObject({ status: 'ok' })
  server.answer = ({ path }) =>
    path.startsWith('/api/v1/alerts')
      ? success({ alerts: [] })
      : success({
          groups: [
            {
              name: 'g',
              rules: [
                { type: 'alerting', name: 'Slow', health: 'ok', lastEvaluation: '2026-01-02T03:04:05Z' },
              ],
            },
          ],
        })
  await next(4)
  expect(await texts('alerts')).toEqual(['FIRING: Slow', 'RESOLVED: Slow'])
})
