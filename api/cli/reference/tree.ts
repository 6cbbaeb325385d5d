/** The commands as data, for what is made of them: completion of shells and the manual page. */
import type { Command } from 'commander'

interface OptionFacts {
  /** Such as --window and -h. */
  flags: string[]
  /** As the help has it, such as `--window <duration>`. */
  usage: string
  description: string
  /** Words it takes, where they are few; empty: any. */
  choices: readonly string[]
  takes: 'nothing' | 'value' | 'file'
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
}

const FILE = /\b(file|dir|paths)\b/

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
        }),
      ),
      children: children.map((child) => ({
        name: child.name(),
        description: help.subcommandDescription(child),
      })),
      choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
      takesFile: command.registeredArguments.some((argument) => FILE.test(argument.name())),
    },
    ...children.flatMap((child) => commandFacts(child, path)),
  ]
}
