/** A trace that official SDKs of OpenTelemetry send from three services: found in the list, and shown as a waterfall. */
import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { test } from './daemon.ts'
import { goTo, placeOf, press } from './go.ts'

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
    /** @param from start @param parent the span that begins it, of another service, too */
    start: (title: string, from: number, parent?: Span, attributes = {}) =>
      tracer.startSpan(
        title,
        { kind: SpanKind.SERVER, startTime: from, attributes },
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
  await expect(list.getByRole('row')).toHaveCount(3)
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
  expect(await accessibilityFaults(page, 'a trace')).toEqual([])

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
  expect(await accessibilityFaults(page, 'a span opened')).toEqual([])

  // From an event of the timeline back to its trace.
  await spans.getByRole('link', { name: 'On its timeline' }).click()
  await page.getByRole('link', { name: 'Open the trace' }).first().click()
  await expect(page).toHaveURL(`${daemon.url}/traces/${id}`)

  await goTo(page, `${daemon.url}/traces/00000000000000000000000000000000`)
  await expect(page.getByText('Nothing has this trace id')).toBeVisible()
})
