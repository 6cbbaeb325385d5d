/** `svc subscribe`, `svc unsubscribe` and `svc subscriptions`: who is told of firings, by an address or by fetching. */
import { type Command, Option } from 'commander'
import { callerText } from '../../../schemas/caller-words.ts'
import type { Subscription, SubscriptionCreated } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { usageError } from '../exit.ts'
import { escapeLine, type Io, printJson, table } from '../terminal.ts'
import { noun } from '../verbs.ts'

type Flags = ClientFlags & JsonFlag
interface SubscribeFlags extends Flags {
  project?: string
  name?: string
  fetch?: boolean
  format?: Subscription['format']
}

const FORMATS = ['svc', 'slack', 'teams', 'discord', 'google_chat', 'pagerduty']

const VERIFY = `Posts are signed as Standard Webhooks says. To check one: HMAC-SHA256 over
"<webhook-id>.<webhook-timestamp>.<body>", body as it came, by the base64 after whsec_ as bytes; its
base64 must be one of the v1,… of webhook-signature, and the timestamp within five minutes of now.
webhook-id is the same in every try of a delivery: take it once. docs/triggers.md has the code.
`

/** The three commands. */
export function subscriptionCommands(io: Io): Command[] {
  return [
    clientCommand('subscribe', 'Post the firings of a trigger, or of a whole project, to an address')
      .usage('[options] <trigger> <url>, or --project <project> <url>; with --fetch no url')
      .argument('[trigger]', 'trigger whose firings are posted; left out with --project')
      .argument('[url]', 'http or https address they are posted to')
      .option('--project <project>', 'firings of every trigger of this project, of those made later too')
      .addOption(
        new Option(
          '--format <form>',
          'the form in which firings are posted; without it, that of the address, such as teams, else svc',
        ).choices(FORMATS),
      )
      .option('--fetch', 'keep firings until they are fetched, for who has no address')
      .option('--name <name>', 'name for the address, or for who fetches')
      .action((first: string | undefined, second: string | undefined, flags: SubscribeFlags) =>
        subscribe(io, first, second, flags),
      ),
    clientCommand('unsubscribe', 'Post no more firings to an address')
      .argument('<id>', 'id of the subscription')
      .action((id: string, flags: Flags) => unsubscribe(io, id, flags)),
    noun('subscriptions', 'List subscriptions', {
      list: (to, name) =>
        clientCommand(name, 'List them, with how the last delivery went').action((flags: Flags) =>
          list(to, flags),
        ),
    })(io),
  ]
}

async function subscribe(
  io: Io,
  first: string | undefined,
  second: string | undefined,
  flags: SubscribeFlags,
): Promise<void> {
  const { trigger, url } = whatToTell(first, second, flags)
  const named = flags.name === undefined ? {} : { name: flags.name }
  const form = flags.format === undefined ? {} : { format: flags.format }
  const told = { ...(url === undefined ? { fetch: true } : { url }), ...form, ...named }
  const client = clientOf(io, flags)
  const answer = await (trigger === undefined
    ? client.call(calls.subscribeProject, { id: flags.project!, body: told })
    : client.call(calls.subscribe, { body: { trigger, ...told } }))
  if (flags.json) return printJson(io, answer.text)
  const made = answer.read() as SubscriptionCreated
  const of = escapeLine(trigger ?? `project ${flags.project}`)
  if (url === undefined) tellFetched(io, of, made)
  else tellPosted(io, of, made)
}

/** @returns without trigger: the project's; without url: fetched. @throws usage error */
function whatToTell(
  first: string | undefined,
  second: string | undefined,
  { project, fetch = false }: SubscribeFlags,
): { trigger?: string | undefined; url?: string | undefined } {
  if (project === undefined) {
    if (first === undefined || (second === undefined) !== fetch)
      throw usageError(
        fetch ? 'name a trigger, and no address with --fetch' : 'name a trigger and an address',
      )
    return { trigger: first, url: second }
  }
  if (second !== undefined) throw usageError('give a trigger or --project, not both')
  if ((first === undefined) !== fetch)
    throw usageError(fetch ? 'with --project and --fetch there is nothing else to name' : 'name an address')
  return { url: first }
}

function tellFetched(io: Io, of: string, { subscription_id: id, existing }: SubscriptionCreated): void {
  io.err(
    `${existing ? 'firings are kept already' : 'firings are kept from now on'}: ${of}. Fetch them with POST /api/subscriptions/${id}/fetch, or the tool wait_for_firing of svc mcp\n`,
  )
  io.out(`${id}\n`)
}

function tellPosted(
  io: Io,
  of: string,
  { subscription_id: id, secret, existing }: SubscriptionCreated,
): void {
  if (existing)
    return void io.out(
      `subscribed to ${of} already, as ${id}; if its posts are signed, their secret was shown then\n`,
    )
  // The form of another service is not signed.
  if (secret === undefined) return void io.out(`subscribed to ${of} as ${id}\n`)
  io.err(`subscribed to ${of} as ${id}; the secret is shown once:\n`)
  io.out(`${secret}\n`)
  io.err(`\n${VERIFY}`)
}

async function unsubscribe(io: Io, id: string, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(calls.unsubscribe, { body: { subscription_id: id } })
  if (flags.json) printJson(io, text)
  else io.out(`${escapeLine(id)} is unsubscribed\n`)
}

async function list(io: Io, flags: Flags): Promise<void> {
  const answer = await clientOf(io, flags).call(calls.listSubscriptions)
  if (flags.json) return printJson(io, answer.text)
  const { subscriptions } = answer.read()
  if (subscriptions.length === 0)
    return void io.out('no subscriptions; make one with: svc subscribe <trigger> <url>\n')
  io.out(
    table(
      io,
      [
        { title: 'ID', cell: (row: Subscription) => row.subscription_id },
        { title: 'FIRINGS OF', cell: (row) => row.trigger ?? `project ${row.project}` },
        { title: 'ADDRESS', cell: (row) => (row.kind === 'mcp' ? '(fetched)' : row.url) },
        { title: 'FORMAT', cell: (row) => (row.kind === 'mcp' ? '' : row.format) },
        { title: 'NAME', cell: (row) => row.name },
        { title: 'BY', cell: (row) => callerText(row.created_by) },
        {
          title: 'LAST DELIVERY',
          cell: lastText,
          style: (row) => (row.disabled_at || row.last_delivery?.status === 'failed' ? 'red' : undefined),
        },
      ],
      subscriptions,
    ),
  )
}

function lastText({ disabled_at, last_delivery: last }: Subscription): string {
  if (disabled_at !== null) return `off since ${disabled_at}: the subscriber said: gone`
  if (last === null) return 'none yet'
  return `${last.status} ${last.at}${last.reason === null ? '' : `: ${last.reason}`}`
}
