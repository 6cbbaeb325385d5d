/** `svc firings`: what triggers fired, why, with which events, and who was told. */
import { Command, Option } from 'commander'
import { countWords } from '../../../schemas/plain-words.ts'
import type { Delivery, Firing, FiringDetail, FiringEventsResult } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import type { Answer } from '../client.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { attemptLines, recipientText, STATUS_STYLES } from '../delivery-text.ts'
import { queryOf, tellMore } from '../paging.ts'
import { escapeLine, escapeText, type Io, paint, printJson, type Style, table } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag
interface ListFlags extends Flags {
  trigger?: string
  project?: string
  state?: Firing['state']
  key?: string
  before?: string
  limit: string
}

const STATES = ['gathering', 'held', 'fired', 'dropped'] as const
const STYLES: Record<Firing['state'], Style> = {
  gathering: 'yellow',
  held: 'yellow',
  fired: 'green',
  dropped: 'dim',
}
/** Event ids shown of a firing; all are at `svc firings events`. */
const EVENTS_SHOWN = 10

/** The command and its subcommands. */
export function firingsCommand(io: Io): Command {
  const group = new Command('firings').description('Show firings and their deliveries')
  group.addCommand(
    clientCommand('list', 'List firings, newest first')
      .option('--trigger <trigger>', 'only of this trigger')
      .option('--project <project>', 'only what reached this project, or was made in it')
      .addOption(new Option('--state <state>', 'only in this state').choices(STATES))
      .option('--key <key>', 'only those that carry this key')
      .option('--limit <n>', 'how many', '30')
      .option('--before <id>', 'continue below this firing')
      .action((flags: ListFlags) => list(io, flags)),
    { isDefault: true },
  )
  group.addCommand(
    clientCommand('show', 'Show one: why it fired, its keys and events, its deliveries, what they carry')
      .argument('<id>')
      .action((id: string, flags: Flags) => show(io, id, flags)),
  )
  group.addCommand(
    clientCommand('events', 'Print the ids of every event it carries, one a line')
      .argument('<id>')
      .action((id: string, flags: Flags) => events(io, id, flags)),
  )
  return group
}

async function list(io: Io, flags: ListFlags): Promise<void> {
  const client = clientOf(io, flags)
  const query = queryOf(flags, {
    trigger: flags.trigger,
    project: flags.project,
    state: flags.state,
    key: flags.key,
    before: flags.before,
  })
  const answer = await client.call(calls.listFirings, query)
  if (flags.json) return printJson(io, answer.text)
  const { firings, next_before } = answer.read()
  if (firings.length === 0) return void io.out('no firings\n')
  io.out(
    table(
      io,
      [
        { title: 'ID', cell: (firing: Firing) => firing.dispatch_id },
        { title: 'WHEN', cell: (firing) => firing.fired_at ?? firing.opened_at },
        { title: 'TRIGGER', cell: (firing) => firing.trigger },
        { title: 'STATE', cell: stateText, style: (firing) => STYLES[firing.state] },
        { title: 'KEY', cell: keyText },
        { title: 'EVENTS', cell: (firing) => String(firing.events) },
        { title: 'TOLD', cell: toldText, style: (firing) => (firing.failed ? 'red' : undefined) },
        { title: 'WHY', cell: (firing) => firing.reason },
      ],
      firings,
    ),
  )
  tellMore(io, next_before)
}

const stateText = ({ state, resolves }: Firing): string => (resolves ? 'over' : state)

const keyText = ({ key, key_count }: Firing): string =>
  key_count > 1 ? `${key} and ${key_count - 1} more` : key

/** Deliveries done of all, such as `1/2`, with how many failed. */
function toldText({ subscribers, delivered, failed }: Firing): string {
  if (subscribers === 0) return 'nobody'
  return `${delivered}/${subscribers}${failed ? `, ${failed} failed` : ''}`
}

async function show(io: Io, id: string, flags: Flags): Promise<void> {
  const answer = await clientOf(io, flags).call(calls.getFiring, { id })
  if (flags.json) return printJson(io, answer.text)
  const firing = answer.read()
  const state = paint(io, STYLES[firing.state], stateText(firing))
  io.out(`${paint(io, 'bold', escapeLine(firing.trigger))}  ${state}  ${firing.dispatch_id}\n`)
  for (const [title, value] of factsOf(firing)) io.out(`${title.padEnd(9)}${escapeLine(value)}\n`)
  if (firing.keys.length > 1) io.out(`\n${keysTable(io, firing)}`)
  io.out(`\n${deliveriesText(io, firing.deliveries)}`)
  if (firing.payload !== null) io.out(`\n${escapeText(firing.payload).trimEnd()}\n`)
}

function factsOf(firing: FiringDetail): [title: string, value: string][] {
  const { value, predicate, window, entity, due_at, held_back, late_by, resolves } = firing
  const against = [predicate, window && `within ${window}`].filter(Boolean).join(' ')
  return [
    ['why', firing.reason],
    ['watches', firing.sentence],
    ['when', firing.fired_at ?? `opened ${firing.opened_at}, decided at ${due_at ?? 'no time'}`],
    ...fact('value', value !== null && (against ? `${value} (${against})` : String(value))),
    ['key', entity ? `${entity.label}=${entity.value}` : firing.key],
    ['events', eventsText(firing)],
    ...fact('held', held_back > 0 && `${held_back} crossings held back by a limit until then`),
    ...fact('late', late_by !== null && `${late_by} s: the service was down`),
    ...fact('resolves', resolves),
    ...fact('practice', firing.practice && 'nothing is posted outside'),
  ]
}

const fact = (title: string, value: string | false | null): [string, string][] =>
  value ? [[title, value]] : []

function eventsText({ dispatch_id, events: count, event_ids }: FiringDetail): string {
  if (count === 0) return 'none'
  const shown = event_ids.slice(0, EVENTS_SHOWN)
  const more = count > shown.length ? ` …; all by "svc firings events ${dispatch_id}"` : ''
  return `${count}: ${shown.join(' ')}${more}`
}

function keysTable(io: Io, { keys, key_count }: FiringDetail): string {
  const text = table(
    io,
    [
      { title: 'KEY', cell: ({ key }: FiringDetail['keys'][number]) => key },
      { title: 'EVENTS', cell: (row) => String(row.events) },
      { title: 'FIRST EVENT', cell: (row) => row.first_event },
    ],
    keys,
  )
  return key_count > keys.length ? `${text}… and ${countWords(key_count - keys.length, 'more key')}\n` : text
}

function deliveriesText(io: Io, deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return 'no subscribers\n'
  return deliveries
    .map((delivery) => {
      const status = paint(io, STATUS_STYLES[delivery.status], delivery.status)
      const head = `${delivery.delivery_id}  ${status}  to ${escapeLine(recipientText(delivery))}\n`
      return head + attemptLines(delivery).join('')
    })
    .join('')
}

async function events(io: Io, id: string, flags: Flags): Promise<void> {
  const client = clientOf(io, flags)
  let after: string | undefined
  do {
    const answer: Answer<FiringEventsResult> = await client.call(calls.listFiringEvents, { id, after })
    const page = answer.read()
    if (flags.json) printJson(io, answer.text)
    else io.out(page.event_ids.map((event) => `${escapeLine(event)}\n`).join(''))
    after = page.next_after ?? undefined
  } while (after !== undefined)
}
