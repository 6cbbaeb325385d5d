/**
 * How fluid the graph of a project of 298 parts is in a browser while 500 events a second arrive: the
 * times between frames, at rest and while it is moved by hand.
 */
import { chromium, type Page } from '@playwright/test'
import { ensureBrowser } from '../../scripts/browser.mjs'
import type { Daemon } from '../chaos/daemon.ts'

const SOURCES = 60
const EVENTS_A_SECOND = 500
/** Bodies a second; what arrives is spread over all sources. */
const BODIES = 10
const MEASURED_MS = 10_000

export interface FrameTimes {
  what: string
  frames: number
  /** Milliseconds between two frames. */
  p50: number
  p95: number
  p99: number
  longest: number
  /** Of p95: sixty frames a second at rest, thirty while the processor draws what is moved. */
  goalMs: number
}

const name = (kind: string, i: number): string => `${kind}-${String(i).padStart(3, '0')}`
const each = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))

function largeProject() {
  const labels = [{ name: 'service', field: 'service', primary: true }]
  return {
    sources: each(SOURCES, (i) => ({
      name: name('source', i),
      connector: 'webhook',
      config: { event_type: 'request', labels },
    })),
    triggers: each(140, (i) => ({
      name: name('trigger', i),
      project: 'Large',
      sources: [name('source', i % SOURCES)],
      condition: { aggregate: 'count', predicate: '> 20', window: '10s' },
    })),
    mcp_servers: each(8, (i) => ({
      name: name('server', i),
      url: `https://mcp${i}.example.com`,
      project: 'Large',
    })),
    agents: each(90, (i) => ({
      name: name('agent', i),
      project: 'Large',
      prompt: 'Look.',
      trigger: name('trigger', i),
      enabled: false,
      verdicts: [{ verdict: 'investigate', when: 'it is odd' }],
      mcp_servers: [name('server', i % 8)],
      ...(i % 2 ? {} : { handoffs: [{ verdict: 'investigate', agent: name('agent', i + 1) }] }),
    })),
    projects: [
      {
        template: 'custom',
        name: 'Large',
        objects: each(SOURCES, (i) => ({ kind: 'source', name: name('source', i) })),
      },
    ],
  }
}

const FRAMES = `new Promise((done) => {
  const times = []
  let last = performance.now()
  const end = last + ${MEASURED_MS}
  requestAnimationFrame(function frame(now) {
    times.push(now - last)
    last = now
    if (now < end) requestAnimationFrame(frame)
    else done(times.sort((a, b) => a - b))
  })
})`

async function framesOf(page: Page, what: string, goalMs: number): Promise<FrameTimes> {
  const times = await page.evaluate<number[]>(FRAMES)
  const at = (part: number) => times[Math.floor(times.length * part)]!
  return {
    what,
    frames: times.length,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    longest: times.at(-1)!,
    goalMs,
  }
}

/** Sends until it is told to stop. @returns what stops it; resolves with how many it sent a second */
function sendSteadily(urls: readonly string[]): () => number {
  const started = performance.now()
  let sent = 0
  let turn = 0
  const body = JSON.stringify(each(EVENTS_A_SECOND / BODIES, (i) => ({ service: `service-${i % 7}` })))
  const timer = setInterval(() => {
    const url = urls[turn++ % urls.length]!
    void fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then(
      (answer) => {
        if (answer.ok) sent += EVENTS_A_SECOND / BODIES
      },
    )
  }, 1_000 / BODIES)
  return () => {
    clearInterval(timer)
    return sent / ((performance.now() - started) / 1_000)
  }
}

/** @returns the frame times, and how many events a second were taken meanwhile */
export async function measureGraphFrames(
  daemon: Daemon,
): Promise<{ times: FrameTimes[]; eventsASecond: number }> {
  const call = async (path: string, body?: unknown) =>
    (
      await fetch(daemon.url + path, {
        ...(body === undefined
          ? {}
          : {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify(body),
            }),
      })
    ).json()
  await call('/api/catalog/import', { yaml: JSON.stringify(largeProject()) })
  const { projects } = (await call('/api/projects')) as { projects: { id: string; name: string }[] }
  const sources = (await call('/api/sources')) as { ingest_key: string }[]
  const browser = await chromium.launch({
    executablePath: await ensureBrowser(),
    args: ['--no-sandbox', '--disable-quic', '--disable-background-networking'],
  })
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await page.goto(`${daemon.url}/projects/${projects.find((each) => each.name === 'Large')!.id}?tab=graph`)
    // So large a project opens as a list of flows: the drawing of all of it is what costs.
    await page.getByRole('button', { name: 'Flows' }).click()
    await page.locator('.react-flow__node').first().waitFor()
    const stop = sendSteadily(sources.map((source) => `${daemon.url}/ingest/${source.ingest_key}`))
    const whole = await framesOf(page, 'the drawing of 298 parts', 20)
    const [moved] = await Promise.all([framesOf(page, 'while it is moved by hand', 20), moveAbout(page)])
    return { times: [whole, moved], eventsASecond: stop() }
  } finally {
    await browser.close()
  }
}

/** Zooms in, then drags the ground to and fro. */
async function moveAbout(page: Page): Promise<void> {
  await page.mouse.move(720, 560)
  for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -240)
  const end = performance.now() + MEASURED_MS - 1_500
  while (performance.now() < end) {
    await page.mouse.down()
    await page.mouse.move(420, 460, { steps: 40 })
    await page.mouse.up()
    await page.mouse.down()
    await page.mouse.move(720, 560, { steps: 40 })
    await page.mouse.up()
  }
}
