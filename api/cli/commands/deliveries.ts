/** `svc deliveries`: who was told of a firing or a finding, how each try went, and sending one again. */
import { Command, Option } from 'commander'
import type { Delivery } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { attemptLines, progressText, recipientText, STATUS_STYLES } from '../delivery-text.ts'
import { queryOf, tellMore } from '../paging.ts'
import { escapeLine, escapeText, type Io, paint, printJson, table } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag
interface ListFlags extends Flags {
  status?: Delivery['status']
  trigger?: string
  recipient?: string
  kind?: Delivery['recipient']['kind']
  run?: string
  before?: string
  limit: string
}

/** The command and its subcommands. */
export function deliveriesCommand(io: Io): Command {
  const group = new Command('deliveries').description(
    'Show deliveries of firings and findings, and redeliver',
  )
  group.addCommand(
    clientCommand('list', 'List deliveries, newest first')
      .addOption(
        new Option('--status <status>', 'only in this status').choices(['running', 'delivered', 'failed']),
      )
      .option('--trigger <trigger>', 'only firings of this trigger')
      .option('--recipient <id>', 'only to this subscription or agent, or of its findings')
      .addOption(
        new Option('--kind <kind>', 'only to subscribers of this kind').choices([
          ...['agent', 'webhook', 'slack', 'mcp', 'write_back', 'github'],
        ]),
      )
      .option('--run <id>', 'only of the finding of this run')
      .option('--limit <n>', 'how many', '30')
      .option('--before <id>', 'continue below this delivery')
      .action((flags: ListFlags) => list(io, flags)),
    { isDefault: true },
  )
  group.addCommand(
    clientCommand('show', 'Show one with its tries')
      .argument('<id>')
      .option('--message', 'print what is posted instead')
      .action((id: string, flags: Flags & { message?: boolean }) => show(io, id, flags)),
  )
  group.addCommand(
    clientCommand('redeliver', 'Send one again, under the same id')
      .argument('<id>')
      .action((id: string, flags: Flags) => redeliver(io, id, flags)),
  )
  return group
}

async function list(io: Io, flags: ListFlags): Promise<void> {
  const { status, trigger, recipient, kind, run, before } = flags
  const query = queryOf(flags, { status, trigger, recipient, kind, run, before })
  const answer = await clientOf(io, flags).call(calls.listDeliveries, query)
  if (flags.json) return printJson(io, answer.text)
  const { deliveries, next_before } = answer.read()
  if (deliveries.length === 0) return void io.out('no deliveries\n')
  io.out(
    table(
      io,
      [
        { title: 'ID', cell: (delivery: Delivery) => delivery.delivery_id },
        { title: 'MADE', cell: (delivery) => delivery.made_at },
        { title: 'TRIGGER', cell: (delivery) => delivery.trigger ?? '' },
        { title: 'KEY', cell: (delivery) => delivery.key },
        { title: 'TO', cell: recipientText },
        {
          title: 'STATUS',
          cell: (delivery) => delivery.status,
          style: (delivery) => STATUS_STYLES[delivery.status],
        },
        { title: 'TRIES', cell: (delivery) => `${delivery.tries}/${delivery.max_tries}` },
        { title: 'HOW', cell: progressText },
      ],
      deliveries,
    ),
  )
  tellMore(io, next_before)
}

async function show(io: Io, id: string, flags: Flags & { message?: boolean }): Promise<void> {
  const client = clientOf(io, flags)
  const answer = await (flags.message
    ? client.call(calls.getDeliveryMessage, { id })
    : client.call(calls.getDelivery, { id }))
  if (flags.json) return printJson(io, answer.text)
  if (flags.message) return void io.out(`${escapeText(JSON.stringify(answer.read(), null, 2))}\n`)
  const delivery = answer.read() as Delivery
  const { status, tries, max_tries, trigger, key, dispatch_id, fired_at, run_id } = delivery
  const what = delivery.of === 'finding' ? `finding  about ${escapeLine(key)}, ${delivery.made_at}\n` : ''
  io.out(`${delivery.delivery_id}  ${paint(io, STATUS_STYLES[status], status)}\n`)
  io.out(`to       ${escapeLine(recipientText(delivery))}\n`)
  io.out(what)
  if (dispatch_id !== null)
    io.out(`firing   ${dispatch_id} of ${escapeLine(trigger ?? '')} for ${escapeLine(key)}, ${fired_at}\n`)
  if (run_id !== null) io.out(`run      ${escapeLine(run_id)}\n`)
  io.out(`tries    ${tries} of ${max_tries}\n${attemptLines(delivery).join('')}`)
}

async function redeliver(io: Io, id: string, flags: Flags): Promise<void> {
  const answer = await clientOf(io, flags).call(calls.redeliver, { id })
  if (flags.json) return printJson(io, answer.text)
  const { delivery_id, status } = answer.read()
  io.out(`${delivery_id} is ${status}\n`)
  if (status === 'running') io.err(`"svc deliveries show ${delivery_id}" tells how it goes\n`)
}
