/** `svc evals new --run`: a run of the past as a scenario, with stand-ins for whom its events are about. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Command } from 'commander'
import type { Frozen, FrozenRow } from '../../../engine/local.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { ReadRequest, RunDetail } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import type { Client } from '../client.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { writeInFolder } from '../files.ts'
import { escapeLine, type Io, paint, printJson } from '../terminal.ts'

const BACK_MS = 36 * 3_600_000
const PAGE = 2_000
/** Events that a scenario may be made of; a longer past is left out from its beginning. */
const EVENTS_MAX = 300_000
const BYTES_MAX = 20_000_000
const SOURCES_MAX = 100

interface Flags extends ClientFlags, JsonFlag {
  run: string
  out: string
  cause?: string[]
  noCause?: boolean
  effect?: string[]
  keep?: string[]
  replace?: string[]
  yes?: boolean
}

const collect = (value: string, before: string[] = []): string[] => [...before, value]

export function evalsNewCommand(io: Io): Command {
  return clientCommand(
    'new',
    'Make a scenario from a past run: the events that the run could read, with names replaced by stand-ins, and the cause that you name',
  )
    .requiredOption('--run <id>', 'id of the run')
    .requiredOption('--out <dir>', 'folder for scenarios; the new one becomes a folder in it')
    .option(
      '--cause <events>',
      'ids of the events that show the cause, separated by commas; repeat the option for a second cause. Default: the true cause of the mark on the finding, else the events of the claims that hold',
      collect,
    )
    .option('--no-cause', 'there was nothing to find')
    .option('--effect <events>', 'ids of events that followed from the cause, separated by commas', collect)
    .option(
      '--keep <label>',
      'keep the values of this label, instead of replacing them; may be repeated',
      collect,
    )
    .option(
      '--replace <name>',
      'replace this name, too, wherever it stands; may be repeated. For names that only sentences have',
      collect,
    )
    .option('-y, --yes', 'write the scenario without asking first')
    .action((flags: Flags & { cause?: string[] | boolean }) => {
      const none = flags.cause === false
      return make(io, {
        ...flags,
        cause: Array.isArray(flags.cause) ? flags.cause : [],
        noCause: none,
      } as Flags)
    })
}

async function make(io: Io, flags: Flags): Promise<void> {
  const { checkPack, createEngine, freezeRun } = await import('../../../engine/local.ts')
  const client = clientOf(io, flags)
  const run = await client.ask(calls.getRun, { id: flags.run })
  if (run.as_of === null) throw new CliError(`run ${run.id} was not started: it read nothing`, EXIT.data)
  const firing = run.dispatch_id ? await client.ask(calls.getFiring, { id: run.dispatch_id }) : null
  const firedAt = Date.parse(firing?.fired_at ?? run.as_of)
  const causes = flags.noCause ? [] : await causesOf(run, flags.cause ?? [])
  const rows = await readAll(io, client, run, firedAt)
  const cited = run.claims.flatMap(({ events }) => events)
  const frozen = freeze(freezeRun, {
    ...{ id: run.id, entity: run.key, firedAt, rows, causes, cited },
    ...{ effects: listsIn(flags.effect).flat(), keep: flags.keep ?? [], replace: flags.replace ?? [] },
  })
  const bytes = gzipSync(frozen.events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  if (bytes.length > BYTES_MAX)
    throw new CliError(`the scenario would be ${Math.round(bytes.length / 1e6)} MB, 20 at most`, EXIT.data)
  if (!flags.json) tellFrozen(io, frozen, bytes.length)
  const folder = join(flags.out, run.id)
  const truth = `${JSON.stringify(frozen.truth, null, 2)}\n`
  const isOther = isOtherThan(join(folder, 'truth.json'), truth)
  if (isOther && flags.yes)
    throw new CliError(
      `${folder} has a scenario already, whose truth.json says otherwise: name another --out, delete the folder, or leave out --yes to be asked`,
      EXIT.data,
    )
  const question = isOther ? `Write it over the other scenario in ${folder}?` : `Write it to ${folder}?`
  if (!flags.yes && !(await io.confirm(question)))
    throw io.isTerminal ? new CliError('nothing was written') : usageError('say --yes to write it')
  writeInFolder(join(folder, 'events.ndjson.gz'), bytes)
  writeInFolder(join(folder, 'truth.json'), truth)
  const incident = { truth: frozen.truth, events: frozen.events }
  const pack = { incidents: [{ id: run.id, load: () => incident }], noise: {} }
  const unfit = await checkPack(createEngine, pack, { noise: 0 })
  if (flags.json) {
    const { thinned, replaced, truth, events } = frozen
    return printJson(io, JSON.stringify({ folder, events: events.length, thinned, replaced, truth, unfit }))
  }
  io.out(`wrote ${folder}\n`)
  for (const { why } of unfit) io.err(`${paint(io, 'yellow', 'not fit yet')}: ${escapeLine(why)}\n`)
}

/** Whether there is another text than this: what people wrote into a scenario, above all. */
const isOtherThan = (path: string, text: string): boolean =>
  existsSync(path) && readFileSync(path, 'utf8') !== text

type Freeze = typeof import('../../../engine/local.ts')['freezeRun']

function freeze(freezeRun: Freeze, given: Parameters<Freeze>[0]): Frozen {
  try {
    return freezeRun(given)
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.data)
  }
}

const listsIn = (given: readonly string[] = []): string[][] =>
  given.map((list) => list.split(',').map((id) => id.trim())).filter((list) => list.length > 0)

/** As they are named, else as the mark of the finding or its claims say. @throws CliError 64 where none does */
async function causesOf(run: RunDetail, named: readonly string[]): Promise<string[][]> {
  if (named.length) return listsIn(named)
  const { proposedCauses } = await import('../../../engine/local.ts')
  const { causes, from } = proposedCauses(run)
  if (from === 'none')
    throw usageError(
      `neither the mark of ${run.id} nor a claim of it that holds names a cause: say --cause evt_…, or --no-cause`,
    )
  return causes
}

/** What the run could read, but for findings: they would tell the answer. Oldest first. */
async function readAll(io: Io, client: Client, run: RunDetail, firedAt: number): Promise<FrozenRow[]> {
  const sources = await client.ask(calls.listSources)
  const names = sources
    .filter(({ connector, projects }) => connector !== 'finding' && isOf(projects, run.projects))
    .map(({ name }) => name)
  if (names.length > SOURCES_MAX)
    throw new CliError(`the run reads ${names.length} sources, ${SOURCES_MAX} at most`, EXIT.data)
  const rows: FrozenRow[] = []
  let cursor: string | null = null
  do {
    const body: ReadRequest = {
      ...{ sources: names, order: 'desc', limit: PAGE, points: 'all' },
      from: new Date(firedAt - BACK_MS).toISOString(),
      to: new Date(firedAt).toISOString(),
      as_of: run.as_of ?? undefined,
      ...(cursor === null ? {} : { cursor }),
    }
    const page = await client.ask(calls.read, { body })
    rows.push(...page.rows.filter(({ reference, event_type }) => !reference && event_type !== 'finding'))
    cursor = page.next_cursor
    if (io.isTerminal) io.err(paint(io, 'dim', `${countWords(rows.length, 'event')} read\n`))
  } while (cursor !== null && rows.length < EVENTS_MAX)
  return rows.reverse()
}

const isOf = (projects: readonly string[], wanted: readonly string[]): boolean =>
  wanted.length === 0 || projects.some((project) => wanted.includes(project))

function tellFrozen(io: Io, { events, thinned, replaced, truth }: Frozen, bytes: number): void {
  const bySource = new Map<string, number>()
  for (const { source, count = 1 } of events) bySource.set(source, (bySource.get(source) ?? 0) + count)
  const list = (of: Iterable<[string, number]>) =>
    [...of].map(([name, count]) => `${escapeLine(name)} ${count.toLocaleString('en')}`).join(', ') || 'none'
  io.out(
    `events: ${list(bySource)}; ${thinned.toLocaleString('en')} older ones are left out, others of their wording stand for them; ${Math.ceil(bytes / 1000)} kB\n`,
  )
  io.out(`replaced by stand-ins: ${list(Object.entries(replaced))}\n`)
  for (const { role, line } of truth.facts) io.out(`${role}: ${escapeLine(line?.[0] ?? '')}\n`)
}
