/** A run as its story: what woke it, each step in a line, what it found, and who took over. */
import { callerText } from '../../schemas/caller-words.ts'
import { claimsHeld, claimWords } from '../../schemas/claim-words.ts'
import type { CheckedClaim, FindingMark, Run, RunDetail, RunStep } from '../../schemas/types.ts'
import { costText, shortText, timeText } from './run-words.ts'
import { escapeLine, escapeText, type Io, paint, type Style, table } from './terminal.ts'

type Painter = Pick<Io, 'colour'>

export const RUN_STYLES: Record<Run['status'], Style> = {
  queued: 'yellow',
  running: 'yellow',
  parked: 'yellow',
  succeeded: 'green',
  exhausted: 'red',
  failed: 'red',
  cancelled: 'dim',
  capped: 'red',
  empty: 'red',
}
const LINE = 100
const KINDS: Record<RunStep['kind'], Style | undefined> = {
  prompt: undefined,
  model: 'cyan',
  tool: undefined,
  conclude: 'green',
  refused: 'red',
  note: 'dim',
}

/** @param whole each step with all it holds */
export function runText(io: Painter, run: RunDetail, whole: boolean): string {
  const head = `${paint(io, 'bold', escapeLine(run.agent))}  ${paint(io, RUN_STYLES[run.status], run.status)}  ${run.id}\n`
  const facts = factsOf(run).map(([title, value]) => `${title.padEnd(9)}${escapeLine(value)}\n`)
  return [
    head + facts.join(''),
    whole ? run.steps.map((step) => wholeStep(io, step)).join('\n') : stepsTable(io, run.steps),
    findingText(io, run),
    claimsText(io, run.claims),
    handoffsText(run),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

const parkedText = ({ since, until, reason }: NonNullable<RunDetail['parked']>): string =>
  `since ${since}, tried again at ${until}: ${reason}`

const insteadText = ({ provider, model, reason }: NonNullable<RunDetail['fallback_for']>): string =>
  `of ${provider} ${model}: ${reason}`

function factsOf(run: RunDetail): [title: string, value: string][] {
  const { outcome, verdict, error, rounds, max_rounds, duration_ms, servers } = run
  const skipped = servers.flatMap((one) => (one.skipped === null ? [] : [`${one.server}: ${one.skipped}`]))
  const tokens = [
    `${run.input_tokens} in`,
    `${run.output_tokens} out`,
    run.cache_read_input_tokens && `${run.cache_read_input_tokens} read from the cache`,
    run.cache_saved_usd && run.cache_read_input_tokens > 0 && `which saved $${run.cache_saved_usd}`,
    run.cache_creation_input_tokens && `${run.cache_creation_input_tokens} written to it`,
  ]
  return [
    ['woken', wokenText(run)],
    ['when', [run.started_at ?? run.made_at, timeText(duration_ms)].filter(Boolean).join(', took ')],
    ...fact('model', [run.provider, run.model].filter(Boolean).join(' ')),
    ['used', `${rounds} of ${max_rounds} rounds, ${run.tool_calls} tools, ${costText(costOf(run))}`],
    ...fact('tokens', rounds > 0 && tokens.filter(Boolean).join(', ')),
    ...fact('verdict', outcome === 'no_op' ? 'no_op: nothing to report' : verdict),
    ...fact('marked', run.mark && `${markText(run.mark)}, by ${callerText(run.mark.by)}`),
    ...fact('error', error),
    ...fact('parked', run.parked && parkedText(run.parked)),
    ...fact('instead', run.fallback_for && insteadText(run.fallback_for)),
    ...fact('practice', run.practice && 'told to nobody, in no total'),
    ...fact('skipped', skipped.join('; ')),
  ]
}

/** How a finding is marked, such as `wrong: the cause was evt_7 (not the deploy)`. */
export const markText = ({ mark, cause, note }: FindingMark): string =>
  [
    mark === 'partly' ? 'partly right' : mark,
    cause === null ? '' : `: the cause was ${cause}`,
    note === null ? '' : ` (${note})`,
  ].join('')

/** A run that asked nothing cost nothing. */
export const costOf = ({ rounds, cost_usd }: Pick<Run, 'rounds' | 'cost_usd'>): number | null =>
  rounds === 0 ? 0 : cost_usd

const fact = (title: string, value: string | false | null): [string, string][] =>
  value ? [[title, value]] : []

function wokenText({
  woken_by,
  trigger,
  label,
  key,
  dispatch_id,
  parent_run_id,
  rerun_of,
  wakes,
}: Run): string {
  const by = {
    trigger: `trigger ${trigger}`,
    schedule: `schedule ${trigger}`,
    handoff: `handed over by ${parent_run_id}`,
    rerun: `again, as ${rerun_of}`,
    practice: `to practise ${rerun_of}`,
    test: `as an example, ${rerun_of}`,
    manual: 'by hand',
    external: 'outside',
  }[woken_by]
  const firing = dispatch_id === null ? '' : `, firing ${dispatch_id}`
  return `${by}, for ${label}=${key}${firing}${wakes > 1 ? `, and ${wakes - 1} more` : ''}`
}

function stepsTable(io: Painter, steps: readonly RunStep[]): string {
  if (steps.length === 0) return ''
  return table(
    io,
    [
      { title: '', cell: ({ n }: RunStep) => String(n) },
      { title: 'STEP', cell: ({ kind }) => kind, style: ({ kind }) => KINDS[kind] },
      { title: 'TIME', cell: ({ ms }) => (ms === null ? 'not done' : timeText(ms)) },
      { title: 'COST', cell: stepCost },
      { title: 'WHAT', cell: (step) => shortText(stepText(step), LINE) },
    ],
    steps,
  )
}

/** What a step holds, as engine/agents/runs writes it; each is absent where it does not apply. */
interface Held {
  message?: string
  tools?: unknown[]
  reply?: { text: string; calls: { name: string }[]; costUsd: number | null }
  error?: { message: string }
  call?: { name: string; arguments: Record<string, unknown> }
  result?: string
  is_error?: boolean
  reason?: string
  fault?: string | null
  claims?: CheckedClaim[]
  text?: string
}

const heldOf = (step: RunStep): Held => step.data as Held

function stepCost(step: RunStep): string {
  const { reply } = heldOf(step)
  return reply ? costText(reply.costUsd) : ''
}

function stepText(step: RunStep): string {
  const held = heldOf(step)
  const called = held.call && `${held.call.name} ${JSON.stringify(held.call.arguments)}`
  switch (step.kind) {
    case 'prompt':
      return `told ${held.message?.length ?? 0} characters, offered ${held.tools?.length ?? 0} tools`
    case 'model':
      return held.error ? held.error.message : saidText(held.reply)
    case 'tool':
      return held.result === undefined
        ? `${called}`
        : `${called} ${held.is_error ? 'failed' : '→'} ${held.result}`
    case 'conclude':
      return held.fault ? `sent back: ${held.fault}` : concludedText(held)
    case 'refused':
      return `${called}: ${held.reason}`
    case 'note':
      return held.text ?? ''
  }
}

function concludedText({ call, claims = [] }: Held): string {
  const counted = claimsHeld(claims)
  const unproved = claims.filter((claim) => claim.unproved).length
  const rest = unproved ? `, ${unproved} unproved` : ''
  const held = counted ? `, ${claimWords(counted)}${rest}` : ''
  return `${call?.arguments.outcome ?? ''}${held}`
}

function saidText(reply: Held['reply']): string {
  if (!reply) return 'is asked'
  const calls = reply.calls.map(({ name }) => name).join(', ')
  return [calls && `calls ${calls}`, reply.text].filter(Boolean).join(': ')
}

function wholeStep(io: Painter, step: RunStep): string {
  const { n, kind, at, ms, data } = step
  const facts = [at, ms === null ? 'not done' : timeText(ms), stepCost(step)].filter(Boolean).join(', ')
  const held = Object.entries(data)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
      return `${name}:\n${escapeText(text.replace(/^/gm, '  '))}\n`
    })
  return `${paint(io, 'bold', `${n} ${kind}`)}  ${paint(io, 'dim', facts)}\n${held.join('')}`
}

function findingText(io: Painter, { headline, finding, next_step }: Run): string {
  const head = headline === null ? '' : `${paint(io, 'bold', escapeLine(headline))}\n`
  const note = finding === null ? '' : `${escapeText(finding).trimEnd()}\n`
  return head + note + (next_step === null ? '' : `Next: ${escapeLine(next_step)}\n`)
}

function claimsText(io: Painter, claims: readonly CheckedClaim[]): string {
  return claims
    .map(({ text, role, ok, unproved, why, events }) => {
      const mark = ok
        ? paint(io, 'green', 'ok')
        : unproved
          ? paint(io, 'yellow', '? ')
          : paint(io, 'red', 'no')
      return `${mark}  ${role.replace('_', ' ')}: ${escapeLine(text)}  ${paint(io, 'dim', escapeLine(ok ? events.join(' ') : (why ?? '')))}\n`
    })
    .join('')
}

const handoffsText = ({ handoffs }: RunDetail): string =>
  handoffs
    .map(({ verdict, to_agent, state, to_run }) => {
      const run = to_run === null ? '' : `, ${to_run}`
      return escapeLine(`${verdict} → ${to_agent}: ${state}${run}`)
    })
    .map((line) => `${line}\n`)
    .join('')
