/** The built daemon for a test, with a data home of its own. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, test as base, expect, type Page, type TestInfo } from '@playwright/test'
import { type ScriptedModels, startScriptedModels } from '../test/models/scripted-server.ts'
import { SHORT_LIVED } from '../test/short-lived.ts'

export interface RunningDaemon {
  url: string
  /** Printed with --auth: the address that logs in. */
  loginUrl: string
  /** Its own structured log so far, a line of JSON each. */
  logLines(): string[]
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  /** A call whose answer is JSON. */
  ask<T>(method: string, path: string, body?: unknown): Promise<T>
  /** Makes a webhook source; returns its ingest path. */
  source(name: string, config: Record<string, unknown>): Promise<string>
}

/**
 * @param env of the daemon, besides what it always has
 * @param command the built one of another folder
 */
export async function startDaemon(
  args: string[] = [],
  env: Record<string, string> = {},
  command = fileURLToPath(new URL('../dist/svc.mjs', import.meta.url)),
): Promise<RunningDaemon & { stop(): Promise<void> }> {
  const home = mkdtempSync(join(tmpdir(), 'svc-e2e-'))
  // Without the launcher, which begins a process anew.
  const program = [...SHORT_LIVED, command]
  const child = spawn(process.execPath, [...program, 'up', '--port', '0', '--data-dir', home, ...args], {
    env: {
      NODE_COMPILE_CACHE: join(dirname(command), '.compiled'),
      PATH: process.env.PATH ?? '',
      HOME: home,
      SVC_LOG_FORMAT: 'json',
      SVC_LOG_LEVEL: 'debug',
      SVC_OTLP_GRPC_PORT: 'off',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  await new Promise<void>((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`the daemon ended with ${code}:\n${lines.join('\n')}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      const wanted = args.includes('--auth') ? /log in at/ : /console at/
      if (wanted.test(line)) resolve()
    })
  })
  const url = /console at (http:\/\/[^\s/]+)/.exec(lines.join('\n'))![1]!
  const call: RunningDaemon['call'] = (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  return {
    url,
    loginUrl: /log in at (\S+)/.exec(lines.join('\n'))?.[1] ?? '',
    logLines: () => lines.filter((line) => line.startsWith('{')),
    call,
    ask: async <T>(method: string, path: string, body?: unknown) =>
      (await call(method, path, body)).json() as Promise<T>,
    source: async (name, config) => {
      const answer = await call('POST', '/api/sources', { name, connector: 'webhook', config })
      return `/ingest/${((await answer.json()) as { ingest_key: string }).ingest_key}`
    },
    stop: async () => {
      child.kill('SIGTERM')
      // One that was killed has a signal in place of an exit code.
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** A daemon that the tests of a file share, each with names of its own, or leaving it as it found it. */
export interface Share {
  env?: Record<string, string>
  args?: string[]
  /** Once, before the first of the tests. @param models asked by it where the tests are those of `agents.ts` */
  prepare?(daemon: RunningDaemon, models: ScriptedModels): Promise<unknown>
}

/** Of a worker: the daemon that is shared just now. */
class Kept {
  private now: { share: Share; repeat: number; daemon: RunningDaemon & { stop(): Promise<void> } } | null =
    null

  /**
   * @param env of all daemons of such tests, besides that of the share
   * @param repeat a test that is repeated meets a daemon as its first run did
   */
  async of(
    share: Share,
    env: Record<string, string>,
    models: ScriptedModels,
    repeat: number,
  ): Promise<RunningDaemon> {
    if (this.now?.share === share && this.now.repeat === repeat) return this.now.daemon
    await this.stop()
    models.forget()
    const daemon = await startDaemon(share.args, { ...env, ...share.env })
    this.now = { share, repeat, daemon }
    await share.prepare?.(daemon, models)
    return daemon
  }

  async stop(): Promise<void> {
    const { now } = this
    this.now = null
    await now?.daemon.stop()
  }
}

/**
 * `SVC_TEST_DELAY=800` holds each request of a page back for up to 800 ms, as a slow network does, by chance but the
 * same for each number after a colon (`800:7`): what a test takes to be there at once is found so. A request that
 * a test answers or holds back itself is left to it.
 */
async function delayAnswers(page: Page): Promise<void> {
  const { SVC_TEST_DELAY: given } = process.env
  if (!given) return
  const [longest = 0, seed = 1] = given.split(':').map(Number)
  let count = 0
  await page.route('**/*', async (route) => {
    const { method, url } = { method: route.request().method(), url: new URL(route.request().url()) }
    const of = `${seed} ${count++} ${method} ${url.pathname}${url.search}`
    const chance = createHash('sha256').update(of).digest().readUInt32BE() / 2 ** 32
    await setTimeout(chance * longest)
    // The page may have gone meanwhile.
    await route.fallback().catch(() => undefined)
  })
}

/** Takes a picture of each open page of a test that failed, once: later fewer are open. */
async function takePictures(browser: Browser, info: TestInfo): Promise<void> {
  const isTaken = info.attachments.some(({ name }) => name === 'screenshot')
  if (isTaken || info.status === info.expectedStatus) return
  const pages = browser.contexts().flatMap((context) => context.pages())
  for (const [n, page] of pages.entries()) {
    const path = info.outputPath(`failed-${n + 1}.png`)
    // A page that is stuck must not hide why the test failed.
    const taken = await page.screenshot({ path, timeout: 5_000 }).catch(() => null)
    if (taken) info.attachments.push({ name: 'screenshot', path, contentType: 'image/png' })
  }
}

/**
 * A test with an open daemon, of its own unless its file shares one (`share`); a fault on the page
 * fails it.
 */
export const test = base.extend<
  {
    daemon: RunningDaemon
    share: Share | null
    /** Of each daemon of the tests, besides what it always has. */
    env: Record<string, string>
    /** Of pages that a test opened itself. */
    pictures: undefined
  },
  {
    kept: Kept
    /** Answers as models what a test says; it has forgotten what was said before its daemon was started. */
    models: ScriptedModels
  }
>({
  share: [null, { option: true }],
  env: [{}, { option: true }],
  models: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the fixtures destructured.
    async ({}, use) => {
      const models = await startScriptedModels()
      await use(models)
      await models.close()
    },
    { scope: 'worker' },
  ],
  kept: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the fixtures destructured.
    async ({}, use) => {
      const kept = new Kept()
      await use(kept)
      await kept.stop()
    },
    { scope: 'worker' },
  ],
  daemon: async ({ share, env, kept, models }, use, { repeatEachIndex }) => {
    if (share) {
      await use(await kept.of(share, env, models, repeatEachIndex))
      return
    }
    models.forget()
    const daemon = await startDaemon([], env)
    await use(daemon)
    await daemon.stop()
  },
  pictures: [
    async ({ browser }, use, info) => {
      await use(undefined)
      await takePictures(browser, info)
    },
    { auto: true },
  ],
  page: async ({ page, browser }, use, info) => {
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    await delayAnswers(page)
    await use(page)
    await takePictures(browser, info)
    if (faults.length) throw new Error(`the page met a fault: ${faults.join('; ')}`)
  },
})

/**
 * Tests of this file, or of the describe it is called in, share a daemon: they run in their order by one worker. A
 * start, and what a daemon does for the first time, is half of the processor time of a short test (2026-11-26).
 */
export function share(of: Share = {}): void {
  test.describe.configure({ mode: 'default' })
  test.use({ share: of })
}

/** They share the demo, whose first incident has been looked at by its agent. */
export function shareDemo(): void {
  share({
    args: ['--demo'],
    prepare: (daemon) =>
      expect
        .poll(async () => (await daemon.ask<{ runs: unknown[] }>('GET', '/api/runs')).runs.length)
        .toBeGreaterThan(0),
  })
}
