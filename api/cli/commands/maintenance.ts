/** `svc maintenance`: planned work, whose firings are held back while it lasts. */
import { Option } from 'commander'
import { repeatWords } from '../../../schemas/repeat-words.ts'
import type { MaintenanceWindow } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { usageError } from '../exit.ts'
import type { Column } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, say, verb } from '../verbs.ts'

const WINDOWS: Column<MaintenanceWindow>[] = [
  { title: 'ID', cell: ({ id }) => id },
  {
    title: 'STATE',
    cell: ({ state }) => state,
    style: ({ state }) => (state === 'active' ? 'yellow' : 'dim'),
  },
  { title: 'FROM', cell: ({ from }) => from },
  { title: 'UNTIL', cell: ({ ended_at, until }) => ended_at ?? until },
  { title: 'HELD', cell: ({ held }) => String(held) },
  { title: 'OF', cell: ofWords },
  { title: 'WHAT', cell: ({ reason }) => reason },
  { title: 'REPEATS', cell: ({ repeat }) => (repeat ? repeatWords(repeat) : '') },
]

type PlanFlags = Flags & {
  reason?: string
  entity: string[]
  trigger: string[]
  project?: string
  from?: string
  until?: string
  for?: string
  cron?: string
  timeZone?: string
  stopRepeating?: true
  by?: string
}

const BY = ['--by <name>', 'your name, where your credential has none of its own'] as const
const several = (flags: string, help: string): Option =>
  new Option(flags, help).default([], 'none').argParser((one: string, all: string[]) => [...all, one])

/** The command and its subcommands. */
export const maintenanceCommand = noun(
  'maintenance',
  'Plan work whose firings are held back while it lasts',
  {
    list: verb({
      does: 'List maintenance windows that are planned or active',
      call: calls.listMaintenance,
      options: [
        new Option('--state <state>', 'only in this state; all: those that are over, too').choices([
          ...['planned', 'active', 'over', 'all'],
        ]),
      ],
      tell: (io, { windows }) => rows(WINDOWS, 'no maintenance is planned')(io, windows),
    }),
    add: verb({
      does: 'Plan maintenance: what fires of it is held back until it ends',
      call: calls.createMaintenance,
      options: [
        ['--reason <text>', 'what the work is (required)'],
        several('--entity <label=value>', 'firings of this entity; more than one: of any of them'),
        several('--trigger <trigger>', 'firings of this trigger; more than one: of any of them'),
        ['--project <project>', 'firings of the triggers of this project, by id or name'],
        ['--from <time>', 'when it begins, ISO 8601; absent: now'],
        ['--until <time>', 'when it ends, ISO 8601'],
        ['--for <duration>', 'how long it lasts, such as 30m or 2h, in place of --until'],
        ['--cron <expression>', 'begin again and again, such as "0 2 * * 0": Sundays at 02:00; with --for'],
        ['--time-zone <zone>', 'of --cron, such as Europe/Paris; absent: UTC'],
        BY,
      ],
      input: ({ flags }: GivenWords<PlanFlags>) => {
        const { reason, entity, trigger, project, from, until, cron, timeZone, by } = flags
        if (reason === undefined) throw usageError('--reason must say what the work is')
        if (cron !== undefined && (until !== undefined || flags.for === undefined))
          throw usageError('with --cron, --for must say how long each lasts, and not --until')
        if ((until === undefined) === (flags.for === undefined))
          throw usageError('either --until or --for must say how long it lasts')
        if (timeZone !== undefined && cron === undefined) throw usageError('--time-zone goes with --cron')
        return {
          body: {
            ...{ reason, entities: entity, triggers: trigger },
            ...(project === undefined ? {} : { project }),
            ...(from === undefined ? {} : { from }),
            ...(until === undefined ? {} : { until }),
            ...(flags.for === undefined ? {} : { for: flags.for }),
            ...(cron === undefined
              ? {}
              : { repeat: { cron, ...(timeZone === undefined ? {} : { time_zone: timeZone }) } }),
            ...(by === undefined ? {} : { by }),
          },
        }
      },
      tell: say((_words, window) => windowWords(window)),
    }),
    until: verb({
      does: 'Say when it ends: later, or sooner',
      call: calls.setMaintenanceEnd,
      args: ['<window>', '<time>'],
      options: [BY],
      input: ({ words: [window = '', until = ''], flags }: GivenWords<PlanFlags>) => ({
        window,
        body: { until, ...(flags.by === undefined ? {} : { by: flags.by }) },
      }),
      tell: say((_words, window) => windowWords(window)),
    }),
    end: verb({
      does: 'End it now, and deliver what it held back and is not over',
      call: calls.endMaintenance,
      options: [
        [
          '--stop-repeating',
          'let it not begin again; without it, only the one that lasts ends, or the next is left out',
        ],
        BY,
      ],
      input: ({ words: [window = ''], flags }: GivenWords<PlanFlags>) => ({
        window,
        body: {
          ...(flags.stopRepeating ? { stop_repeating: true } : {}),
          ...(flags.by === undefined ? {} : { by: flags.by }),
        },
      }),
      tell: say((_words, window) => windowWords(window)),
    }),
  },
)

/** "service=checkout, trigger payment_errors, project uc_4f2a91c07b". */
function ofWords({ entities, triggers, project }: MaintenanceWindow): string {
  return [
    ...entities,
    ...triggers.map((name) => `trigger ${name}`),
    ...(project === null ? [] : [`project ${project}`]),
  ].join(', ')
}

/**
 * "mnt_3 active until 2026-03-01T23:00:00.000Z: Upgrade of the orders database (service=checkout)"; of one that repeats,
 * when, too.
 */
function windowWords(window: MaintenanceWindow): string {
  const { id, state, from, until, ended_at, reason, repeat } = window
  const when = {
    planned: `planned from ${from} until ${until}`,
    active: `active until ${until}`,
    over: `over since ${ended_at ?? until}`,
  }[state]
  const again = repeat && state !== 'over' ? `, ${repeatWords(repeat)}` : ''
  return `${id} ${when}${again}: ${reason} (${ofWords(window)})`
}
