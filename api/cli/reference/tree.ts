/** The commands as data, for what is made of them: completion of shells and the manual page. */
import type { Command } from 'commander'

/** Nouns whose names an instance knows: `svc names` lists them. */
export const NAMED = [
  'sources',
  'triggers',
  'agents',
  'mcp-servers',
  'projects',
  'skills',
  'entities',
  'credentials',
] as const
export type Named = (typeof NAMED)[number]

interface OptionFacts {
  /** Such as --window and -h. */
  flags: string[]
  /** As the help has it, such as `--window <duration>`. */
  usage: string
  description: string
  /** Words it takes, where they are few; empty: any. */
  choices: readonly string[]
  takes: 'nothing' | 'value' | 'file'
  /** What it names of the instance; null: nothing that completion asks for. */
  names: Named | null
}

export interface CommandFacts {
  /** From `svc` on, such as `svc catalog plan`. */
  path: string
  usage: string
  description: string
  options: OptionFacts[]
  /** Names and descriptions of its subcommands. */
  children: { name: string; description: string }[]
  /** Words that one of its arguments takes, where they are few; empty: any. */
  choices: readonly string[]
  /** Its arguments are files, or the first is. */
  takesFile: boolean
  /** What its first argument names of the instance; null: nothing that completion asks for. */
  names: Named | null
}

const FILE = /\b(file|dir|paths)\b/

const namedBy = (word = ''): Named | null => NAMED.find((noun) => noun === `${word}s`) ?? null

/** An argument is called as what it names, or is the name of its noun; commands that make one take a new name. */
function namedIn(path: string, [first]: readonly { name(): string }[]): Named | null {
  const [, noun, verb] = path.split(' ')
  const word = first?.name().split('|')[0]
  if (word !== 'name') return namedBy(word)
  return verb === 'add' || verb === 'create' ? null : (NAMED.find((one) => one === noun) ?? null)
}

/** Every command, a group before what is in it. */
export function commandFacts(command: Command, parent = ''): CommandFacts[] {
  const path = parent === '' ? command.name() : `${parent} ${command.name()}`
  const help = command.createHelp()
  const children = help.visibleCommands(command).filter((child) => child.name() !== 'help')
  return [
    {
      path,
      usage: `${path} ${command.usage()}`,
      description: help.commandDescription(command),
      options: help.visibleOptions(command).map(
        ({ flags, description, argChoices, short, long, required, optional }): OptionFacts => ({
          flags: [short, long].filter((flag) => flag !== undefined),
          usage: flags,
          description,
          choices: argChoices ?? [],
          takes: !required && !optional ? 'nothing' : FILE.test(flags) ? 'file' : 'value',
          names: required ? namedBy(long?.slice(2)) : null,
        }),
      ),
      children: children.map((child) => ({
        name: child.name(),
        description: help.subcommandDescription(child),
      })),
      choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
      takesFile: command.registeredArguments.some((argument) => FILE.test(argument.name())),
      names: children.length ? null : namedIn(path, command.registeredArguments),
    },
    ...children.flatMap((child) => commandFacts(child, path)),
  ]
}
