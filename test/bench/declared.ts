/**
 * The declarative core over HTTP: a catalog of 2,000 objects imported, compared, exported, and a
 * project of 200 objects made; beside better-sqlite3 alone storing as many documents as rows.
 */
import BetterSqlite3 from 'better-sqlite3'
import type { Daemon } from '../chaos/daemon.ts'
import { SOURCE } from './data.ts'
import { catalogOf } from './declared-data.ts'
import { posting } from './http.ts'

export interface DeclaredMeasure {
  what: string
  ms: number
  /** Against the bare insert of as many rows. */
  ratio: number
  goalMs: number | null
}

const OBJECTS = 2_000
const PROJECT_OBJECTS = 200
/** What people wait for: a project made of many parts, and the plan of a large file. */
const GOAL_MS = 1_000

/** @param daemon with nothing declared yet. @param bareFile where to put the yardstick. */
export async function measureDeclared(daemon: Daemon, bareFile: string): Promise<DeclaredMeasure[]> {
  const { yaml, edited, loose } = catalogOf(OBJECTS, PROJECT_OBJECTS)
  const whole = bareInsertMs(bareFile, OBJECTS)
  const project = bareInsertMs(bareFile, PROJECT_OBJECTS)
  const measures: DeclaredMeasure[] = []
  const timed = async (
    what: string,
    bare: number,
    path: string,
    body?: object,
    goalMs: number | null = null,
  ): Promise<void> => {
    const started = performance.now()
    const answer = await fetch(`${daemon.url}/api/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await answer.text()
    const ms = performance.now() - started
    if (!answer.ok) throw new Error(`${what} answered ${answer.status}: ${text.slice(0, 2_000)}`)
    measures.push({ what, ms, ratio: ms / bare, goalMs })
  }
  await timed('first import of 2,000 objects', whole, 'catalog/import', { yaml })
  const same = { yaml, dry_run: true }
  await timed('diffing a 2,000-object catalog, none changed', whole, 'catalog/import', same, GOAL_MS)
  const plan = { yaml: edited, dry_run: true }
  await timed('diffing a 2,000-object catalog, 100 changed', whole, 'catalog/import', plan, GOAL_MS)
  await timed('importing 100 changes among 2,000 objects', whole, 'catalog/import', { yaml: edited })
  await timed('exporting 2,000 objects', whole, 'catalog/export')
  await timed('exporting 2,000 objects into a given file', whole, 'catalog/export', { yaml })
  const many = { template: 'custom', name: 'Many parts', objects: loose }
  await timed('creating a 200-object custom project', project, 'projects', many, GOAL_MS)
  return measures
}

/** Asked of again and again beside posts of events. */
const READS: readonly [path: string, body?: object][] = [
  ['catalog/export'],
  ['catalog/drift'],
  ...['sources', 'triggers', 'agents/builtin', 'skills', 'mcp-servers', 'projects'].map(
    (path) => [path] as [string],
  ),
]
const BESIDE_MS = 10_000

/**
 * How long single posts of events take while a catalog of 2,000 objects is checked, exported, compared and listed, each
 * as soon as it was answered.
 * @param daemon with nothing declared yet. @returns what each post took, in milliseconds, ascending; `reads` answered
 */
export async function measurePostsBeside(
  daemon: Daemon,
): Promise<{ idle: number[]; posts: number[]; reads: number }> {
  const ask = async (path: string, body?: object): Promise<string> => {
    const answer = await fetch(`${daemon.url}/api/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 2_000)}`)
    return text
  }
  const { ingest_key: key } = JSON.parse(await ask('sources', SOURCE)) as { ingest_key: string }
  const url = `${daemon.url}/ingest/${key}`
  const { yaml, edited } = catalogOf(OBJECTS, PROJECT_OBJECTS)
  await ask('catalog/import', { yaml })
  await posting(url, 2_000)
  const idle = await posting(url, 3_000)
  const until = performance.now() + BESIDE_MS
  let reads = 0
  const asking = [['catalog/check', { yaml: edited }] as const, ...READS].map(async ([path, body]) => {
    for (; performance.now() < until; reads++) await ask(path, body)
  })
  const posts = await posting(url, BESIDE_MS)
  await Promise.all(asking)
  return { idle, posts, reads }
}

/** Documents of about the same size as rows of one table, in one commit. @returns milliseconds */
function bareInsertMs(file: string, rows: number): number {
  const db = new BetterSqlite3(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec('CREATE TABLE IF NOT EXISTS parts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, spec TEXT NOT NULL)')
  const insert = db.prepare('INSERT INTO parts (name, spec) VALUES (?, ?)')
  const spec = JSON.stringify({ prompt: 'Say what broke. '.repeat(20) })
  const all = db.transaction(() => {
    for (let n = 0; n < rows; n++) insert.run(`part-${n}`, spec)
  })
  const started = performance.now()
  all.immediate()
  const ms = performance.now() - started
  db.close()
  return ms
}
