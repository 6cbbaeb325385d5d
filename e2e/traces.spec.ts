/** A trace that official SDKs of OpenTelemetry send from three services: found in the list, and shown as a waterfall. */
import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { share, test } from './daemon.ts'
import { goTo, placeOf, press } from './go.ts'

share()

/** A service with its SDK; `flush` waits until its spans are stored. */
function service(url: string, name: string) {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': name }),
    spanProcessors: [
      new SimpleSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${url}/v1/traces` }) }),
    ],
  })
  const tracer = provider.getTracer('shop')
  return {
    /** @param from start @param parent the span that begins it, of another service, too. @param links of other traces */
    start: (title: string, from: number, parent?: Span, attributes = {}, links: Span[] = []) =>
      tracer.startSpan(
        title,
        {
          ...{ kind: SpanKind.SERVER, startTime: from, attributes },
          links: links.map((one) => ({ context: one.spanContext() })),
        },
        parent ? trace.setSpan(context.active(), parent) : context.active(),
      ),
    flush: () => provider.forceFlush(),
  }
}

test('a trace over three services is listed, opened as a waterfall, and gone through by keys', async ({
  page,
  daemon,
}) => {
  const [shop, payments, bank] = ['shop', 'payments', 'bank'].map((name) => service(daemon.url, name))
  const begin = Date.now() - 60_000
  const checkout = shop!.start('GET /checkout', begin)
  const pay = payments!.start('pay', begin + 20, checkout)
  const charge = bank!.start('POST /charge', begin + 40, pay, { 'http.route': '/charge' })
  charge.setStatus({ code: SpanStatusCode.ERROR, message: 'card declined' })
  charge.end(begin + 90)
  pay.end(begin + 100)
  checkout.end(begin + 150)
  const cart = shop!.start('GET /cart', begin + 500)
  cart.end(begin + 504)
  await Promise.all([shop, payments, bank].map((one) => one!.flush()))
  const id = checkout.spanContext().traceId

  await goTo(page, `${daemon.url}/traces`)
  const list = page.getByRole('table', { name: 'Traces' })
  await expect(list.getByRole('row').filter({ hasText: 'shop' })).toHaveCount(2)
  expect(await accessibilityFaults(page, 'the list of traces')).toEqual([])
  await page.getByRole('textbox', { name: 'Attribute' }).fill('http.route=/charge')
  await page.keyboard.press('Enter')
  await expect(list.getByRole('row')).toHaveCount(2)
  await expect(list).toContainText('shop, payments, bank')
  await expect(list).toContainText('1 failed')
  await list.getByRole('link', { name: /^GET \/checkout of shop/ }).click()

  await expect(page).toHaveURL(`${daemon.url}/traces/${id}`)
  await expect(page.getByText('150 ms · 3 spans of 3 services · 1 failed')).toBeVisible()
  const spans = page.getByRole('treegrid', { name: 'Spans' })
  const rows = spans.getByRole('row')
  await expect(rows).toHaveCount(4)
  const levels = async () =>
    Promise.all(
      (await rows.all()).map((row) =>
        Promise.all([row.getAttribute('aria-level'), row.getAttribute('aria-expanded')]),
      ),
    )
  await expect.poll(levels).toEqual([
    [null, null],
    ['1', 'true'],
    ['2', 'true'],
    ['3', null],
  ])
  // A bar stands where its span was at work: 40 to 90 of 150 ms.
  const [all, bar] = await Promise.all(
    ['.waterfall-bars', '.waterfall-bar'].map((part) => placeOf(rows.nth(3).locator(part))),
  )
  expect((bar!.x - all!.x) / all!.width).toBeCloseTo(40 / 150, 2)
  expect(bar!.width / all!.width).toBeCloseTo(50 / 150, 2)

  await rows.nth(1).focus()
  await press(page, 'ArrowDown')
  await expect(rows.nth(2)).toBeFocused()
  await press(page, 'ArrowLeft')
  await expect(rows).toHaveCount(3)
  await press(page, 'ArrowRight')
  await expect(rows).toHaveCount(4)
  await press(page, 'End')
  await expect(rows.nth(3)).toBeFocused()
  await press(page, 'Enter')
  await expect(spans.getByText('card declined').first()).toBeVisible()
  await expect(spans.getByText('server · 50 ms, by itself 50 ms · begins after 40 ms')).toBeVisible()
  expect(await accessibilityFaults(page, 'a trace, a span of it opened')).toEqual([])

  // From an event of the timeline back to its trace.
  await spans.getByRole('link', { name: 'On its timeline' }).click()
  await page.getByRole('link', { name: 'Open the trace' }).first().click()
  await expect(page).toHaveURL(`${daemon.url}/traces/${id}`)

  await goTo(page, `${daemon.url}/traces/00000000000000000000000000000000`)
  await expect(page.getByText('Nothing has this trace id')).toBeVisible()
})

test('linked traces are gone to both ways, metrics are drawn, and agents of others have their traces', async ({
  page,
  daemon,
}) => {
  const [store, helper] = ['store', 'support'].map((name) => service(daemon.url, name))
  const begin = Date.now() - 60_000
  const order = store!.start('POST /orders', begin)
  const work = store!.start('ship order', begin + 500, undefined, {}, [order])
  work.recordException({ name: 'Timeout', message: 'the courier does not answer' })
  work.setStatus({ code: SpanStatusCode.ERROR })
  work.end(begin + 600)
  order.end(begin + 50)
  const run = helper!.start('invoke_agent', begin, undefined, {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'refunds',
  })
  const ask = helper!.start('chat gpt', begin + 10, run, {
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt' },
    ...{ 'gen_ai.usage.input_tokens': 1200, 'gen_ai.usage.output_tokens': 34 },
  })
  ask.end(begin + 300)
  run.end(begin + 400)
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: `${daemon.url}/v1/metrics` }),
    // By hand alone.
    exportIntervalMillis: 3_600_000,
  })
  const meters = new MeterProvider({
    resource: resourceFromAttributes({ 'service.name': 'store' }),
    readers: [reader],
  })
  const orders = meters.getMeter('store').createCounter('orders', { unit: '{order}' })
  const waits = meters.getMeter('store').createHistogram('orders.wait', { unit: 'ms' })
  for (const n of [3, 4]) {
    orders.add(n, { region: 'eu' })
    waits.record(100 * n)
    await reader.forceFlush()
  }
  await Promise.all([store, helper].map((one) => one!.flush()))

  await goTo(page, `${daemon.url}/traces/${work.spanContext().traceId}`)
  const rows = page.getByRole('treegrid', { name: 'Spans' }).getByRole('row')
  await rows.nth(1).click()
  const links = page.getByRole('list', { name: 'Links to other traces' })
  await expect(links).toHaveText('links to POST /orders of store')
  await links.getByRole('link').click()
  await expect(page).toHaveURL(`${daemon.url}/traces/${order.spanContext().traceId}`)
  await rows.nth(1).click()
  await expect(links).toHaveText('linked from ship order of store')

  // A span that threw is red on the timeline of its service.
  await goTo(page, `${daemon.url}/explore?l=service%3Dstore`)
  await expect(page.locator('[data-level="error"]')).toHaveCount(1)
  await expect(page.locator('[data-level="error"]')).toContainText('the courier does not answer')

  await goTo(page, `${daemon.url}/traces`)
  await page.getByRole('tab', { name: 'Metrics' }).click()
  await expect(page.getByRole('heading', { name: 'Metrics', level: 1 })).toBeVisible()
  const metrics = page.getByRole('table', { name: 'Metrics', exact: true })
  await expect(metrics).toContainText('region=eu')
  await expect(metrics).toContainText('7 order')
  await page.getByRole('textbox', { name: 'Metric' }).fill('wait')
  await page.keyboard.press('Enter')
  // The only one is unfolded.
  await expect(page.getByText(/^Observations a second, 60 parts of the window/)).toBeVisible()
  await expect(metrics.getByText('99th percentile')).toBeVisible()
  expect(await accessibilityFaults(page, 'metrics')).toEqual([])
  await page.getByRole('textbox', { name: 'Metric' }).fill('nothing')
  await page.keyboard.press('Enter')
  await expect(page.getByText('No matching metrics')).toBeVisible()

  await page.getByRole('tab', { name: 'Agents in telemetry' }).click()
  const agents = page.getByRole('table', { name: 'Other agents' })
  await expect(agents).toContainText('not of svc, of the service support')
  await expect(agents).toContainText('1,234')
  expect(await accessibilityFaults(page, 'agents in telemetry')).toEqual([])
  await agents.getByRole('link', { name: 'Traces of refunds, of the service support' }).click()
  await expect(page.getByRole('table', { name: 'Traces' }).getByRole('row')).toHaveCount(2)
  await page.getByRole('link', { name: /^invoke_agent of support/ }).click()
  await expect(rows.nth(2)).toContainText('1,234 tokens')
})
