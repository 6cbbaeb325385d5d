/** `svc agents examples` and `svc agents example add|rm`: what an agent is tested by. */
import { Option } from 'commander'
import type { AgentExample } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import type { Client } from '../client.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError } from '../exit.ts'
import { type Column, escapeLine, type Io, printJson } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, say, verb } from '../verbs.ts'

interface AddFlags extends Flags {
  run: string
  name?: string
  verdict?: string
  mentions?: string[]
}

const EXAMPLES: Column<AgentExample>[] = [
  { title: 'NAME', cell: (example) => example.name },
  { title: 'EXPECTED', cell: ({ verdict }) => verdict ?? 'any finding' },
  { title: 'MENTIONS', cell: ({ mentions }) => mentions.join(', ') },
  { title: 'ENTITY', cell: ({ label, key }) => `${label}=${key}` },
  { title: 'AS OF', cell: (example) => example.as_of },
  { title: 'RUN', cell: (example) => example.run_id },
]

/** The list, and the group of what changes it. */
export const agentExampleCommands = {
  examples: verb({
    does: 'List what it is tested by',
    call: calls.listAgentExamples,
    tell: (io, { examples }) => rows(EXAMPLES, 'no examples')(io, examples),
  }),
  example: noun('example', 'Add and remove what an agent is tested by', {
    add: verb({
      does: 'Keep a past run as an example',
      call: calls.addAgentExample,
      args: ['<agent>'],
      options: [
        new Option('--run <id>', 'finished run whose firing it has').makeOptionMandatory(),
        ['--name <text>', 'what it is called; else by the entity and the time of the run'],
        ['--verdict <verdict>', 'verdict expected; no_op: nothing to report; without it any finding'],
        ['--mentions <words...>', 'what the finding must hold: words, or /patterns/'],
      ],
      input: async ({ words: [name = ''], flags }: GivenWords<AddFlags>, client) => ({
        name,
        body: {
          name: flags.name ?? (await nameOf(client, flags.run)),
          run_id: flags.run,
          verdict: flags.verdict,
          mentions: flags.mentions,
        },
      }),
      tell: say((_words, { name }) => `added ${name}`),
    }),
    rm: (io) =>
      clientCommand('rm', 'Remove one, by name or id')
        .argument('<agent>')
        .argument('<example>')
        .action((agent: string, example: string, flags: Flags) => remove(io, agent, example, flags)),
  }),
}

/** Such as `checkout 2026-11-20 12:00`. */
async function nameOf(client: Client, id: string): Promise<string> {
  const { key, made_at } = await client.ask(calls.getRun, { id })
  return `${key.slice(0, 100)} ${made_at.slice(0, 16).replace('T', ' ')}`
}

/** Removes an example of an agent. @param word its name or id @throws CliError when the agent has no such example */
async function remove(io: Io, agent: string, word: string, flags: Flags): Promise<void> {
  const client = clientOf(io, flags)
  const { examples } = await client.ask(calls.listAgentExamples, { name: agent })
  const found = examples.find(({ name }) => name === word) ?? examples.find(({ id }) => id === word)
  if (!found) throw new CliError(`${escapeLine(agent)} has no example ${escapeLine(word)}`)
  const { text } = await client.call(calls.removeAgentExample, { name: agent, id: found.id })
  if (flags.json) printJson(io, text)
  else io.out(`removed ${escapeLine(found.name)}\n`)
}
