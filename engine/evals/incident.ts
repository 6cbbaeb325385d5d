/**
 * Incidents with labelled truth, as folders: `<id>/events.ndjson.gz` holds an event a line (`source`, `type`,
 * `t` in seconds before the firing, `text`, `labels`, `value`, and `count` where it stands for others of its wording),
 * `<id>/truth.json` what must be seen of them.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { fail } from '../errors.ts'
import { counted } from './counted.ts'
import type { VariantName } from './variants.ts'

export interface IncidentEvent {
  source: string
  type: string
  /** Seconds before the firing, at most 0. */
  t: number
  text: string
  labels: Record<string, string>
  value?: number
  /** Seconds before the firing when it came, where that is later than when it happened. */
  arrives?: number
  /** How many events of its wording it stands for, itself included; 1 when absent. */
  count?: number
  /** Of those it stands for the last, seconds before the firing; `t` when absent. */
  until?: number
}

/** What a run should come to. unknown: the cause is not in the events, and that is to be said. */
export type Outcome = 'finding' | 'no_op' | 'unknown'

/** What one must have seen to know what happened. Patterns are JavaScript's; (?i) before one ignores case. */
export interface Fact {
  id: string
  role: 'root' | 'effect'
  /** One line must match all of them. */
  line?: string[]
  /** A line that stopped: one line must match these, and say so. */
  gone?: unknown
  and?: string
  /** A number: its usual and its abnormal value must be shown, in lines that match all names. */
  num?: { names: string[]; usual: [number, number]; abnormal: [number, number] }
  /** Noise alone matches it: left out. */
  weak?: boolean
  /** Of roots: the cause that it shows. Roots of one cause, as all are that name none, stand for each other. */
  cause?: string
}

/** An innocent event that one could take for the cause. */
export interface Decoy {
  id: string
  /** One line must match all of them. */
  line: string[]
}

export interface Truth {
  id: string
  kind: string
  /** What the trigger fires for: the value of the label `service`. */
  entity: string
  fired_at: string
  facts: Fact[]
  /** A finding when absent. */
  outcome?: Outcome
  decoys?: Decoy[]
  /** How hard it is, from 1, one clear signal, to 4, several causes or one that is missing; as levels.ts says when absent. */
  level?: number
}

export interface Incident {
  truth: Truth
  events: IncidentEvent[]
}

/** Ordinary lines by the service that wrote them: level, component, host, text. */
export type NoisePool = Record<string, [level: string, component: string, host: string, text: string][]>

export interface Pack {
  /** Read one at a time: they are large. */
  incidents: { id: string; heldOut?: boolean; load(): Incident }[]
  noise: NoisePool
  /** What is left of what the events say; all of it when absent. */
  variant?: VariantName
}

/** A scenario in one file, `{version, truth, events}`, as the console gives it. */
const FILE = '.scenario.json'

/**
 * @param folder with the incidents as folders or as files `<id>.scenario.json`, or with `pack/` beside
 *   `noise.json.gz`; or one such file
 * @throws SvcError invalid
 */
export function readPack(folder: string): Pack {
  if (folder.endsWith(FILE) && existsSync(folder) && statSync(folder).isFile())
    return { incidents: [inFile(dirname(folder), basename(folder))], noise: {} }
  const inner = join(folder, 'pack')
  const root = existsSync(inner) ? inner : folder
  const ids = existsSync(root)
    ? readdirSync(root)
        .filter((id) => existsSync(join(root, id, 'truth.json')))
        .sort()
    : []
  const files = existsSync(root) ? readdirSync(root).filter((name) => name.endsWith(FILE)) : []
  if (ids.length + files.length === 0)
    fail('invalid', `pack: ${folder} holds no incident, a folder with truth.json and events.ndjson.gz`, {
      field: 'pack',
    })
  const noise = [join(folder, 'noise.json.gz'), join(root, '..', 'noise.json.gz')].find((file) =>
    existsSync(file),
  )
  return {
    incidents: [
      ...ids.map((id) => ({ id, load: () => readIncident(join(root, id), id) })),
      ...files.sort().map((name) => inFile(root, name)),
    ],
    noise: noise === undefined ? {} : (JSON.parse(gunzipSync(readFileSync(noise)).toString()) as NoisePool),
  }
}

function inFile(folder: string, name: string): Pack['incidents'][number] {
  const id = name.slice(0, -FILE.length)
  return {
    id,
    load: () => checkedIncident(id, () => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Incident),
  }
}

const readIncident = (folder: string, id: string): Incident =>
  checkedIncident(id, () => {
    const truth = JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')) as Truth
    const lines = gunzipSync(readFileSync(join(folder, 'events.ndjson.gz')))
      .toString()
      .split('\n')
    return { truth, events: lines.filter(Boolean).map((line) => JSON.parse(line) as IncidentEvent) }
  })

function checkedIncident(id: string, read: () => Incident): Incident {
  try {
    const { truth, events } = read()
    if (typeof truth?.entity !== 'string' || !Array.isArray(truth.facts) || !Array.isArray(events))
      throw new Error('the truth needs entity and facts, and there must be events')
    if (truth.level !== undefined && ![1, 2, 3, 4].includes(truth.level))
      throw new Error('level must be 1, 2, 3 or 4')
    counted(events)
    return { truth, events }
  } catch (error) {
    return fail('invalid', `pack: incident ${id}: ${(error as Error).message}`, { field: 'pack' })
  }
}
