/** `svc replay`: what happened in a project, moment by moment, from stored records. */
import type { Command } from 'commander'
import type { Replay, ReplayMoment } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { usageError } from '../exit.ts'
import { parseCount } from '../labels.ts'
import { costText, timeText } from '../run-words.ts'
import { escapeLine, type Io, paint, printJson, type Style } from '../terminal.ts'

interface ReplayFlags extends ClientFlags, JsonFlag {
  from?: string
  to?: string
  result?: string
  limit?: string
}

/** Moments of one answer. */
const PAGE = 2_000

/** The command. */
export function replayCommand(io: Io): Command {
  return clientCommand('replay', 'Tell what happened in a project, or in the chain of runs of one result')
    .argument('<project>', 'id or name')
    .option(
      '--result <run>',
      'the chain of runs that this one is of, from the first event to the last delivery',
    )
    .option('--from <time>', 'start, ISO 8601')
    .option('--to <time>', 'end, ISO 8601; 31 days after the start at most')
    .option('--limit <n>', 'stop after so many moments')
    .action((project: string, flags: ReplayFlags) => replay(io, project, flags))
}

async function replay(io: Io, project: string, flags: ReplayFlags): Promise<void> {
  const { to, result } = flags
  if (result === undefined && (flags.from === undefined || to === undefined))
    throw usageError('give --result, or --from and --to')
  const most = flags.limit === undefined ? Number.POSITIVE_INFINITY : parseCount(flags.limit, '--limit')
  const client = clientOf(io, flags)
  let { from } = flags
  let told = 0
  for (let isFirst = true; ; isFirst = false) {
    const limit = Math.min(PAGE, most - told)
    const answer = await client.call(calls.getReplay, { id: project, from, to, result, limit })
    const page = answer.read()
    if (flags.json) printJson(io, answer.text)
    else tell(io, page, isFirst)
    told += page.moments.length
    if (page.next_from === null) break
    from = page.next_from
    if (told < most) continue
    io.err(paint(io, 'dim', `there is more; --from ${from} goes on with it\n`))
    break
  }
  if (told === 0 && !flags.json) io.out('nothing happened\n')
}

function tell(io: Io, { project, from, to, moments, gaps }: Replay, isFirst: boolean): void {
  if (isFirst) io.out(`${paint(io, 'bold', escapeLine(project.name))}  ${from} to ${to}\n`)
  for (const moment of moments) io.out(lineOf(io, moment))
  for (const gap of gaps)
    io.err(
      paint(io, 'yellow', `not shown: ${escapeLine(gap.message)} (${gap.kind}, ${gap.from} to ${gap.to})\n`),
    )
}

const WIDTH = 'evaluation no_subscriber'.length

function lineOf(io: Io, moment: ReplayMoment): string {
  const { at, kind, phase, title, ms, cost_usd, practice, recomputed } = moment
  const what = escapeLine(`${kind} ${phase}`).padEnd(WIDTH)
  const more = [
    ms ? timeText(ms) : '',
    // Of a model call the title says it.
    cost_usd !== null && kind === 'run' ? costText(cost_usd) : '',
    practice ? 'practice' : '',
    recomputed ? 'worked out' : '',
  ].filter(Boolean)
  const style = styleOf(moment)
  const shown = style ? paint(io, style, what) : what
  return `${at}  ${shown}  ${escapeLine(title)}${more.length ? ` (${more.join(', ')})` : ''}\n`
}

const BAD = new Set(['failed', 'exhausted', 'capped', 'empty', 'refused', 'error', 'dropped'])

function styleOf({ kind, phase }: ReplayMoment): Style | undefined {
  if (BAD.has(phase)) return 'red'
  if (kind === 'firing' || kind === 'finding' || phase === 'succeeded') return 'green'
  return kind === 'step' || kind === 'evaluation' ? 'dim' : undefined
}
