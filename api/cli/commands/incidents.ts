/** `svc incidents`: what is open, who has it, and the acts on it. */
import { Option } from 'commander'
import { claimWords } from '../../../schemas/claim-words.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { FindingIncident, Incident, IncidentDetail } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import type { Client } from '../client.ts'
import { tellMore } from '../paging.ts'
import { type Column, escapeLine, type Io, paint, type Style } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, say, verb } from '../verbs.ts'

const STATES = ['open', 'acknowledged', 'snoozed', 'handled', 'active'] as const
const SEVERITIES = ['critical', 'warning', 'info'] as const
const STYLES: Readonly<Record<Incident['severity'], Style>> = {
  critical: 'red',
  warning: 'yellow',
  info: 'dim',
}
/** Rows of the activity that `show` prints. */
const ACTIVITY_SHOWN = 10

const INCIDENTS: Column<Incident>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'SEVERITY', cell: ({ severity }) => severity, style: ({ severity }) => STYLES[severity] },
  { title: 'STATE', cell: stateWords },
  { title: 'ENTITY', cell: entityWords },
  { title: 'LAST FIRED', cell: ({ last_fired_at }) => last_fired_at },
  { title: 'FIRINGS', cell: ({ firings }) => String(firings) },
  { title: 'WHAT', cell: ({ headline }) => headline },
]

type ActFlags = Flags & { by?: string; until?: string }

/** Who types it, where no key and no proxy says who it is. */
const BY = ['--by <name>', 'your name, where your credential has none of its own'] as const

/** An act names the version it saw: that of the incident as it is now. */
async function seen({ words: [incident = ''], flags }: GivenWords<ActFlags>, client: Client) {
  const { version } = await client.ask(calls.getIncident, { incident })
  return { incident, body: { version, ...(flags.by ? { by: flags.by } : {}) } }
}

const told = say<Incident>((_words, incident) => `${incident.id}: ${stateWords(incident)}`)

/** The command and its subcommands. */
export const incidentsCommand = noun('incidents', 'List incidents and act on them', {
  list: verb({
    does: 'List incidents, the most severe first',
    call: calls.listIncidents,
    options: [
      new Option('--state <state>', 'only in this state; active is all that are not handled').choices(STATES),
      new Option('--severity <severity>', 'only of this severity').choices(SEVERITIES),
      ['--trigger <trigger>', 'only of this trigger'],
      ['--entity <entity>', 'only of this entity, such as checkout or service=checkout'],
      ['--project <project>', 'only of triggers made in this project'],
      ['--assignee <name>', 'only what this one has; none: nobody'],
      ['--q <words>', 'words in the headline, the trigger or the entity'],
      ['--before <next>', 'continue where a list ended'],
      ['--limit <n>', 'how many', '50'],
    ],
    tell: (io, { incidents, next_before }) => {
      rows(INCIDENTS, 'no incidents')(io, incidents)
      tellMore(io, next_before)
    },
  }),
  show: verb({
    does: 'Show one: what was found, who has it, what happened',
    call: calls.getIncident,
    tell: show,
  }),
  ack: verb({
    does: 'Say that you have it; its deliveries go on',
    call: calls.acknowledgeIncident,
    options: [BY],
    input: seen,
    tell: told,
  }),
  snooze: verb({
    does: 'Hold its deliveries back, until a time or until it changes',
    call: calls.snoozeIncident,
    options: [['--until <time>', 'ISO 8601; absent: until it changes'], BY],
    input: async (given: GivenWords<ActFlags>, client) => {
      const { incident, body } = await seen(given, client)
      return { incident, body: { ...body, ...(given.flags.until ? { until: given.flags.until } : {}) } }
    },
    tell: told,
  }),
  handle: verb({
    does: 'Mark it handled, and its results with it',
    call: calls.handleIncident,
    options: [BY],
    input: seen,
    tell: told,
  }),
  reopen: verb({ does: 'Open it again', call: calls.reopenIncident, options: [BY], input: seen, tell: told }),
})

function entityWords({ entity, key }: Incident): string {
  return entity ? `${entity.label}=${entity.value}` : key
}

/** "acknowledged by mara", "handled by svc (quiet)". */
function stateWords({ state, acknowledged, snoozed, handled, assignee }: Omit<Incident, 'firings'>): string {
  if (handled) return `handled by ${handled.by}${handled.how === 'person' ? '' : ` (${handled.how})`}`
  if (snoozed)
    return `snoozed by ${snoozed.by} until ${snoozed.until ?? 'it changes'}${snoozed.maintenance ? ' for maintenance' : ''}`
  if (acknowledged) return `acknowledged by ${acknowledged.by}`
  return assignee === null ? state : `${state}, ${assignee} has it`
}

function show(io: Io, incident: IncidentDetail): void {
  const { id, severity, headline, sentence, trigger, key, entity, opened_at, last_fired_at, firings_total } =
    incident
  const { claims, result, run, activity, history, event, also, alerts, wakes } = incident
  io.out(`${paint(io, 'bold', escapeLine(headline))}\n`)
  const facts: [string, string | null | undefined][] = [
    ['incident', `${id}, ${severity}, ${stateWords(incident)}`],
    ['entity', entity ? `${entity.label}=${entity.value}` : key],
    ['trigger', `${trigger}: ${sentence}`],
    [
      'fired',
      firings_total === 1
        ? `once, ${opened_at}`
        : `${countWords(firings_total, 'time')} from ${opened_at} to ${last_fired_at}`,
    ],
    ['event', event && `${event.id} from ${event.source}: ${event.text}`],
    ...also.map(({ event_type, events, id, text }): [string, string] => [
      'also',
      `${id}: ${text || event_type}${events > 1 ? ` and ${events - 1} more of ${event_type}` : ''}`,
    ]),
    ...alerts.map(({ id, text, event_type, over_at }): [string, string] => [
      'alert',
      `${over_at === null ? 'on' : `over ${over_at}`}, ${id}: ${text || event_type}`,
    ]),
    ['agents', result || run ? null : agentWords(wakes)],
    ['verdict', result?.verdict && `${result.verdict}, by ${result.chain.join(' > ')}`],
    ['claims', claims && claimWords(claims)],
    ['next', result?.next_step],
    ['looked', history && history.runs > 1 ? lookedWords(history) : null],
  ]
  for (const [title, value] of facts) if (value) io.out(`${title.padEnd(9)}${escapeLine(value)}\n`)
  for (const { at, agent, verdict, headline } of history?.notes.filter(
    ({ run_id }) => run_id !== result?.run_id,
  ) ?? [])
    io.out(`${at}  ${escapeLine(`found by ${agent}${verdict ? ` (${verdict})` : ''}: ${headline}`)}\n`)
  for (const { at, by, action, severity: to, text } of activity.slice(0, ACTIVITY_SHOWN))
    io.out(`${at}  ${escapeLine(`${action}${to ? ` ${to}` : ''} by ${by}${text ? `: ${text}` : ''}`)}\n`)
}

/** Why no agent looks: "none: its trigger wakes none", "triage is off (svc agents enable triage)". */
function agentWords(wakes: IncidentDetail['wakes']): string {
  if (wakes.length === 0) return 'none: its trigger wakes none'
  return wakes
    .map(({ agent, on }) =>
      on ? `${agent} looks when it fires again` : `${agent} is off (svc agents enable ${agent})`,
    )
    .join(', ')
}

/** "2 findings of 5 runs, first 2026-11-20T12:00:00.000Z, nothing new since; last looked at 2026-11-20T13:00:00.000Z". */
function lookedWords({ findings, runs, first_seen, updated, looked_at }: FindingIncident): string {
  const since = looked_at > updated ? `nothing new since; last looked at ${looked_at}` : `last ${updated}`
  return `${findings} ${findings === 1 ? 'finding' : 'findings'} of ${runs} runs, first ${first_seen}, ${since}`
}
