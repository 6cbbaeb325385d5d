/** `svc agents examples` and `svc agents example add|rm`: what an agent is tested by. */
import { Command } from 'commander'
import type { AgentExample, AgentExamplesResult, Run } from '../../../schemas/types.ts'
import type { Client } from '../client.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError } from '../exit.ts'
import { escapeLine, type Io, printJson, table } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag
interface AddFlags extends Flags {
  run: string
  name?: string
  verdict?: string
  mentions?: string[]
}

/** The list, and the group of what changes it. */
export function agentExampleCommands(io: Io): Command[] {
  const group = new Command('example').description('Add and remove what an agent is tested by')
  group.addCommand(
    clientCommand('add', 'Keep a past run as an example')
      .argument('<agent>')
      .requiredOption('--run <id>', 'finished run whose firing it has')
      .option('--name <text>', 'what it is called; else by the entity and the time of the run')
      .option('--verdict <verdict>', 'verdict expected; no_op: nothing to report; without it any finding')
      .option('--mentions <words...>', 'what the finding must hold: words, or /patterns/')
      .action((agent: string, flags: AddFlags) => add(io, agent, flags)),
  )
  group.addCommand(
    clientCommand('rm', 'Remove one, by name or id')
      .argument('<agent>')
      .argument('<example>')
      .action((agent: string, example: string, flags: Flags) => remove(io, agent, example, flags)),
  )
  return [
    clientCommand('examples', 'List what it is tested by')
      .argument('<name>')
      .action((name: string, flags: Flags) => list(io, name, flags)),
    group,
  ]
}

const pathOf = (agent: string) => `/api/agents/builtin/${encodeURIComponent(agent)}/examples`

async function list(io: Io, agent: string, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(pathOf(agent))
  if (flags.json) return printJson(io, text)
  const { examples } = JSON.parse(text) as AgentExamplesResult
  if (examples.length === 0) return void io.out('no examples\n')
  io.out(
    table(
      io,
      [
        { title: 'NAME', cell: (example: AgentExample) => example.name },
        { title: 'EXPECTED', cell: ({ verdict }) => verdict ?? 'any finding' },
        { title: 'MENTIONS', cell: ({ mentions }) => mentions.join(', ') },
        { title: 'ENTITY', cell: ({ label, key }) => `${label}=${key}` },
        { title: 'AS OF', cell: (example) => example.as_of },
        { title: 'RUN', cell: (example) => example.run_id },
      ],
      examples,
    ),
  )
}

async function add(
  io: Io,
  agent: string,
  { run, name, verdict, mentions, ...flags }: AddFlags,
): Promise<void> {
  const client = clientOf(io, flags)
  const { text } = await client.call(pathOf(agent), {
    method: 'POST',
    json: {
      name: name ?? (await nameOf(client, run)),
      run_id: run,
      ...(verdict === undefined ? {} : { verdict }),
      ...(mentions === undefined ? {} : { mentions }),
    },
  })
  if (flags.json) printJson(io, text)
  else io.out(`added ${escapeLine((JSON.parse(text) as AgentExample).name)}\n`)
}

/** Such as `checkout 2026-11-20 12:00`. */
async function nameOf(client: Client, id: string): Promise<string> {
  const { text } = await client.call(`/api/runs/${encodeURIComponent(id)}`)
  const { key, made_at } = JSON.parse(text) as Run
  return `${key.slice(0, 100)} ${made_at.slice(0, 16).replace('T', ' ')}`
}

async function remove(io: Io, agent: string, word: string, flags: Flags): Promise<void> {
  const client = clientOf(io, flags)
  const { examples } = JSON.parse((await client.call(pathOf(agent))).text) as AgentExamplesResult
  const found = examples.find(({ name }) => name === word) ?? examples.find(({ id }) => id === word)
  if (!found) throw new CliError(`${escapeLine(agent)} has no example ${escapeLine(word)}`)
  const { text } = await client.call(`${pathOf(agent)}/${encodeURIComponent(found.id)}`, { method: 'DELETE' })
  if (flags.json) printJson(io, text)
  else io.out(`removed ${escapeLine(found.name)}\n`)
}
