/**
 * Nouns and verbs of the command line. A plain verb (list, show, pause, delete …) is one row of its noun's table:
 * the call of the API that it makes, and how the answer is printed. Its arguments are the fields of the call's path.
 */
import { Argument, Command, type Option } from 'commander'
import type { Call } from '../client/call.ts'
import type { Client } from './client.ts'
import { clientCommand, clientOf, type JsonFlag } from './context.ts'
import type { ClientFlags } from './credentials.ts'
import { CliError } from './exit.ts'
import { parseCount } from './labels.ts'
import { type Column, escapeLine, escapeText, type Io, printJson, table } from './terminal.ts'

export type Flags = ClientFlags & JsonFlag
/** Makes the command of one verb. */
export type MakeCommand = (io: Io, name: string) => Command

/** What a person gave: the arguments in their order, and the flags. */
export interface GivenWords<F = Flags> {
  words: readonly string[]
  flags: F
}

export interface Verb<T, Input, F extends Flags> {
  /** Its line in the help. */
  does: string
  call: Call<T, Input>
  /** Arguments as the help shows them; absent: the fields of the path. */
  args?: readonly (Argument | string)[]
  /** Each is a field of the query or, with `input`, what that makes of it. */
  options?: readonly (Option | readonly [flags: string, help: string, fallback?: string])[]
  /** What is asked; absent: arguments are the fields of the path, options those of the query. */
  input?(given: GivenWords<F>, client: Client, io: Io): Input | Promise<Input>
  /** Prints the answer for a person; with --json the answer is printed as it came. */
  tell(io: Io, answer: T, given: GivenWords<F>): void
  /** Why the answer is not what was expected: nothing else is told then, and the command exits with 1. Null: it is. */
  fault?(answer: T): string | null
}

/**
 * A group of commands, in the order of their table; `list` is what the bare noun does.
 * @example
 * noun('triggers', 'List and pause triggers', {
 *   list: verb({ does: 'List triggers', call: calls.listTriggers, tell: rows(COLUMNS) }),
 *   pause: verb({ does: 'Stop evaluating it', call: calls.pauseTrigger, tell: say(([name]) => `${name}: paused`) }),
 * })(io)
 */
export const noun =
  (name: string, description: string, verbs: Readonly<Record<string, MakeCommand>>) =>
  (io: Io): Command => {
    const group = new Command(name).description(description)
    for (const [verb, make] of Object.entries(verbs))
      group.addCommand(make(io, verb), { isDefault: verb === 'list' })
    return group
  }

/** A command that is one call. */
export const verb =
  <T, Input, F extends Flags = Flags>(row: Verb<T, Input, F>): MakeCommand =>
  (io, name) => {
    const { does, call, args = fieldsOf(call), options = [], input, tell, fault } = row
    const command = clientCommand(name, does)
    for (const one of args) command.addArgument(typeof one === 'string' ? new Argument(one) : one)
    for (const one of options)
      if (isOption(one)) command.addOption(one)
      else command.option(...one)
    const own = [...command.options]
    return command.action(async (...given: unknown[]) => {
      const words = given.slice(0, args.length) as string[]
      const flags = given[args.length] as F
      const client = clientOf(io, flags)
      const asked = input ? await input({ words, flags }, client, io) : plainInput(call, own, words, flags)
      const answer = await client.call(call as Call<T, object>, asked as object)
      const found = fault?.(answer.read()) ?? null
      if (flags.json) printJson(io, answer.text)
      else if (found === null) {
        tell(io, answer.read(), { words, flags })
        for (const warning of warningsOf(answer.read())) io.err(`warning: ${escapeLine(warning)}\n`)
      }
      if (found !== null) throw new CliError(flags.json ? '' : escapeLine(found))
    })
  }

/** Of a write: what should be known although it is done. */
const warningsOf = (answer: unknown): readonly string[] =>
  (answer as { warnings?: readonly string[] } | null)?.warnings ?? []

const isOption = (one: Option | readonly unknown[]): one is Option => !Array.isArray(one)

const namesOf = (call: string): string[] => [...call.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
const fieldsOf = (call: string): string[] => namesOf(call).map((name) => `<${name}>`)

/** Arguments in the order of the path; flags by the names of the query. */
function plainInput(
  call: string,
  options: readonly Option[],
  words: readonly string[],
  flags: object,
): object {
  const given = flags as Readonly<Record<string, unknown>>
  const fields = namesOf(call).map((name, i) => [name, words[i]])
  const query = options.map((option) => {
    const value = given[option.attributeName()]
    const name = option.name().replaceAll('-', '_')
    return [name, name === 'limit' ? parseCount(String(value), '--limit') : value]
  })
  return Object.fromEntries([...fields, ...query])
}

/** Of a rename: the name, and the new one. */
export const toName = {
  args: ['<name>', '<to>'],
  options: [['--why <text>', 'why, for the change history']],
  input: ({ words: [name = '', to = ''], flags }: GivenWords<Flags & { why?: string }>) => ({
    name,
    body: { to, ...(flags.why === undefined ? {} : { why: flags.why }) },
  }),
} as const

/** Tells rows as a table. @param none what is said where there are none; absent: an empty table */
export const rows =
  <T>(columns: readonly Column<T>[], none?: string) =>
  (io: Io, all: readonly T[]): void =>
    io.out(all.length === 0 && none !== undefined ? `${none}\n` : table(io, columns, all))

/** Tells one sentence. */
export const say =
  <T, F = Flags>(sentence: (words: readonly string[], answer: T, flags: F) => string) =>
  (io: Io, answer: T, { words, flags }: GivenWords<F>): void =>
    io.out(`${escapeLine(sentence(words, answer, flags))}\n`)

/** Tells all fields. */
export const whole = (io: Io, answer: object): void =>
  io.out(`${escapeText(JSON.stringify(answer, null, 2))}\n`)
