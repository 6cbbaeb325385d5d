/**
 * 15 E1 on the built daemon, with 500 objects: while the writer cannot go on, because another connection
 * has the file, everything that only reads is answered.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { catalogOf } from '../../bench/declared-data.ts'
import { type Daemon, startDaemon } from '../../chaos/daemon.ts'
import { eventually } from '../../eventually.ts'
import { proposal } from '../declared/setup/setup-world.ts'

type Fields = Record<string, unknown>

let folder: string
let daemon: Daemon
let file: InstanceType<typeof BetterSqlite3>
const ids: Record<string, string> = {}
const EMPTY_REPORT = {
  ...{ version: 1, at: '2026-11-20T11:00:00.000Z', release: '1.0.0', pack: 'mine', noise: [] },
  ...{ spent_usd: 0, stopped: false, scenes: [], runs: [], measured: [] },
}
/** Enough that what asks for all of them is no moment. */
const OBJECTS = 500
const { yaml, edited } = catalogOf(OBJECTS, 0)

async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: Fields }> {
  const answer = await fetch(`${daemon.url}${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false
  return { status: answer.status, body: isJson ? (JSON.parse(text) as Fields) : { text } }
}

/** An answer that is no refusal. */
async function done(...of: Parameters<typeof ask>): Promise<Fields> {
  const { status, body } = await ask(...of)
  if (status >= 300) throw new Error(`${of[0]} ${of[1]}: ${status} ${JSON.stringify(body)}`)
  return body
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-blocked-'))
  daemon = await startDaemon(folder)
  const { plan } = await done('POST', '/api/catalog/import', { yaml })
  expect(plan).toMatchObject({ creates: OBJECTS })
  const { ingest_key } = await done('GET', '/api/sources/s-0-0')
  ids.key = String(ingest_key)
  const items = Array.from({ length: 8 }, () => ({ service: 'pay', status: 503 }))
  const stored = await done('POST', `/ingest/${ids.key}`, items)
  ids.event = String((stored.ids as string[])[0])
  const { firings } = await done('GET', '/api/firings')
  ids.firing = String((firings as Fields[])[0]!.dispatch_id)
  const found = { entity: 'pay', label: 'service', finding: 'It broke.' }
  ids.run = String((await done('POST', '/api/projects/Project%200/findings', found)).run_id)
  const operations = [{ op: 'patch', kind: 'trigger', name: 't-0-10', spec: { cooldown: '1h' } }]
  ids.proposal = String((await done('POST', '/api/proposals', { operations })).id)
  const { project } = await done('POST', '/api/setup/apply', { plan: proposal({ goal: 'Watch' }) })
  ids.setup = String((project as Fields).id)
  await done('PUT', '/api/ask/sessions/0123456789abcdef', { title: 'Why' })
  ids.report = String((await done('POST', '/api/evals/reports', EMPTY_REPORT)).id)
  expect(String((await done('GET', '/health')).detail)).not.toMatch(/nothing could be written/)
  file = new BetterSqlite3(join(folder, 'svc.db'))
})
afterAll(async () => {
  file.close()
  await daemon.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** Each waits for the file for 5 s, then gives up; what comes to the writer later waits for all of them. */
const WRITES = 12

/** Writes that wait since the file is held; null while it is free. */
let waiting: Promise<{ status: number }>[] | null = null
let left = 0

/** Holds the file, and sees to it that the writer has so much to wait for. */
async function hold(): Promise<void> {
  if (!waiting) file.exec('BEGIN IMMEDIATE')
  waiting ??= []
  while (left < WRITES) {
    left++
    waiting.push(ask('POST', '/api/keys', { name: 'k', scopes: ['read'] }).finally(() => left--))
  }
  // Answered by the main thread, after it has passed the writes on.
  await done('GET', '/api/whoami')
}

/** Lets the writer go on. @returns what the writes were answered that had waited */
async function release(): Promise<number[]> {
  const held = waiting ?? []
  if (waiting) file.exec('ROLLBACK')
  waiting = null
  return (await Promise.all(held)).map(({ status }) => status)
}

/** On a machine that is slow enough the writes give up before anything is answered, which tells nothing. */
const TRIES = 5

/** Asks while the writer waits for the file. @returns the status, and whether the writer still waited */
async function askedBeside(...of: Parameters<typeof ask>): Promise<{ status: number; waited: boolean }> {
  for (let tries = 1; ; tries++) {
    await hold()
    const { status } = await ask(...of)
    // Behind the writes that waited when it was asked, it would have been answered after the last of them, each time.
    const waited = left > 0
    if (waited || tries === TRIES) return { status, waited }
  }
}

/** What stands in for the names in a path. */
const NAMES: [path: RegExp, name: () => string][] = [
  [/^\/api\/sources\/\{/, () => 's-0-0'],
  [/^\/api\/triggers\/\{/, () => 't-0-10'],
  [/^\/api\/agents\/builtin\/\{/, () => 'a-0-25'],
  [/^\/api\/mcp-servers\/\{/, () => 'm-0-40'],
  [/^\/api\/(projects\/templates|usecases\/recipes)\/\{/, () => 'webhook_watch'],
  [/^\/api\/projects\/\{id\}\/setup/, () => ids.setup!],
  [/^\/api\/(projects|usecases)\/\{/, () => 'Project 0'],
  [/^\/api\/(firings|activity\/dispatches)\/\{/, () => ids.firing!],
  [/^\/api\/incidents\/\{/, () => 'inc_1'],
  [/^\/api\/traces\/\{/, () => '0123456789abcdef'],
  [/^\/api\/events\/\{/, () => ids.event!],
  [/^\/api\/runs\/\{/, () => ids.run!],
  [/^\/api\/change-sets\/\{/, () => '1'],
  [/^\/api\/proposals\/\{/, () => ids.proposal!],
  [/^\/api\/ask\/sessions\/\{/, () => '0123456789abcdef'],
  [/^\/catalog\/\{/, () => 'source:s-0-0'],
  [/^\/api\/evals\/reports\/\{/, () => ids.report!],
  [/^\/ingest\/\{/, () => ids.key!],
]
const INNER: Record<string, () => string> = {
  '/api/projects/{id}/skills/{name}': () => 'k-0-45',
  '/api/projects/{id}/skills/{name}/download': () => 'k-0-45',
  '/api/projects/{id}/results/{run}': () => ids.run!,
  '/api/agents/builtin/{name}/tests/{id}': () => 'test_gone',
}
const QUERIES: Record<string, () => string> = {
  '/api/agents/builtin/{name}/preview': () => `firing=${ids.firing}`,
  '/api/catalog/dependents': () => 'kind=source&name=s-0-0',
  '/api/entities/neighbours': () => 'label=service&value=pay',
  '/api/projects/{id}/replay': () =>
    `from=${new Date(Date.now() - 60_000).toISOString()}&to=${new Date().toISOString()}`,
}
/** Refused: there is none in this world, or it is said how else to ask; that needs no writer either. */
const REFUSED: Record<string, number> = {
  // It is open: nobody signs in.
  '/.well-known/oauth-authorization-server': 404,
  '/.well-known/oauth-protected-resource/mcp': 404,
  '/.well-known/oauth-protected-resource/sse': 404,
  '/.well-known/oauth-protected-resource/telemetry/mcp': 404,
  '/api/agents/builtin/{name}/tests/{id}': 404,
  '/api/entities/joined/{name}': 404,
  '/api/findings/{run}': 404,
  '/api/traces/{id}': 404,
  '/api/catalog/sync/adoption': 404,
  '/api/deliveries/{id}': 404,
  '/api/deliveries/{id}/message': 404,
  '/api/integrations/github/{name}/repos': 404,
  '/api/integrations/github/{name}/tree': 400,
  '/api/sources/discover': 405,
}
/** Not here: a stream; what asks another system; a turn of a model. */
const ELSEWHERE = new Set([
  '/api/tail',
  '/api/discover/environment',
  '/api/slack/channels',
  '/api/agent/chat/{turn}',
])

function pathOf(template: string): string {
  const first = NAMES.find(([path]) => path.test(template))?.[1] ?? (() => 'gone')
  const [head, tail] = [template.replace(/\{\w+\}/, encodeURIComponent(first())), INNER[template]]
  const path = tail ? head.replace(/\{\w+\}/, encodeURIComponent(tail())) : head
  return QUERIES[template] ? `${path}?${QUERIES[template]()}` : path
}

const { paths } = JSON.parse(
  readFileSync(new URL('../../../api/http/openapi.json', import.meta.url), 'utf8'),
) as { paths: Record<string, Record<string, unknown>> }
const GETS = Object.keys(paths).filter((path) => paths[path]!.get && !ELSEWHERE.has(path))

describe('while the writer waits for the file', () => {
  // It is held from one question to the next: none of them may need the writer, nor how long it has waited.
  afterAll(() => release())

  it('15 B7: a catalog file that is no YAML is refused', async () => {
    const body = { yaml: `a: ${'['.repeat(5_000)}` }
    expect(await askedBeside('POST', '/api/catalog/import', body)).toEqual({ status: 400, waited: true })
  })

  it.each(GETS)('GET %s is answered', async (template) => {
    const answer = await askedBeside('GET', pathOf(template))
    expect(answer).toEqual({ status: REFUSED[template] ?? 200, waited: true })
  })

  const small = { sources: ['s-0-0'], condition: { event: 'any' } }
  const operations = [{ op: 'patch', kind: 'trigger', name: 't-0-10', spec: { cooldown: '2h' } }]
  const drafted = [...operations, { op: 'delete', kind: 'agent', name: 'a-0-25' }]
  it.each<[string, unknown]>([
    ['/read', { selector: { service: 'pay' } }],
    ['/read', { selector: { service: 'pay' }, text: 'nothing' }],
    ['/read', { selector: { service: 'pay' }, as_of: new Date().toISOString() }],
    ['/api/projects/Project%200/draft/preview', { operations: drafted, yaml: true }],
    ['/api/stats', { by: 'service' }],
    ['/api/histogram', { selector: { service: 'pay' }, window: '1h' }],
    ['/api/triggers/backtest', { definition: small, window: '1d' }],
    ['/api/labels/preview', { label: { name: 'service', field: 'service' }, source: 's-0-0' }],
    ['/api/catalog/check', { yaml: edited }],
    ['/api/catalog/export', { yaml }],
    ['/api/catalog/import', { yaml: edited, dry_run: true }],
    ['/api/change-sets', { operations, dry_run: true }],
    ['/api/change-sets/2/undo', { dry_run: true }],
    ['/api/change-sets/1/rollback', { dry_run: true }],
    ['/api/setup/check', { plan: proposal({ goal: 'Watch' }) }],
    ['/api/sources/test', { name: 's-0-0', connector: 'webhook' }],
    ['/api/projects/templates/webhook_watch/detect', {}],
  ])('POST %s, which only computes, is answered', async (path, body) => {
    expect(await askedBeside('POST', path, body)).toEqual({ status: 200, waited: true })
  })

  it('GET /health is answered, and degraded once nothing could be written for 10 s; then it is well again', async () => {
    const stuck = /^nothing could be written for [1-9]\d+ s: /
    const told = async () => String((await done('GET', '/health')).detail)
    // It begins once the write has come to the writer, and machines differ in when that is.
    await eventually(async () => {
      await hold()
      expect(await told()).toMatch(stuck)
    }, 100)
    expect(await done('GET', '/health')).toMatchObject({ status: 'degraded' })
    const answers = await release()
    // Which came first, and whether one waited so long that it gave up, is chance: each was done or told so.
    expect(answers.filter((status) => status !== 503 && status !== 201)).toEqual([])
    await eventually(async () => expect(await told()).not.toMatch(/nothing could be written/), 100)
  })
})
