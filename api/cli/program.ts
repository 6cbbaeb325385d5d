/**
 * The command line: its commands in groups, their help, and what each error exits with. What
 * loads the engine or the HTTP server is imported when its command runs, so that the client
 * commands start fast.
 */
import { Command, CommanderError, type Help } from 'commander'
import { didYouMean } from '../../schemas/near-names.ts'
import { guardOldVariables } from '../guards.ts'
import { version } from '../version.ts'
import { askCommand } from './commands/ask.ts'
import { catalogCommand } from './commands/catalog.ts'
import { changesCommand } from './commands/changes.ts'
import { completionCommand } from './commands/completion.ts'
import { credentialsCommand } from './commands/credentials.ts'
import { deliveriesCommand } from './commands/deliveries.ts'
import { demoCommand } from './commands/demo.ts'
import { entitiesCommand } from './commands/entities.ts'
import { evalsCommand } from './commands/evals.ts'
import { eventsCommand } from './commands/events.ts'
import { findingsCommand } from './commands/findings.ts'
import { firingsCommand } from './commands/firings.ts'
import { incidentsCommand } from './commands/incidents.ts'
import { keysCommand } from './commands/keys.ts'
import { loginCommand, logoutCommand, whoamiCommand } from './commands/login.ts'
import { maintenanceCommand } from './commands/maintenance.ts'
import { mcpCommand } from './commands/mcp.ts'
import { namesCommand } from './commands/names.ts'
import { agentsCommand, mcpServersCommand, triggersCommand } from './commands/parts.ts'
import { projectsCommand } from './commands/projects.ts'
import { proposalsCommand } from './commands/proposals.ts'
import { readCommand } from './commands/read.ts'
import { replayCommand } from './commands/replay.ts'
import { runsCommand } from './commands/runs.ts'
import { sendCommand } from './commands/send.ts'
import { skillsCommand } from './commands/skills.ts'
import { slackCommand } from './commands/slack.ts'
import { sourcesCommand } from './commands/sources.ts'
import { statusCommand } from './commands/status.ts'
import { subscriptionCommands } from './commands/subscribe.ts'
import { tailCommand } from './commands/tail.ts'
import { telemetryCommand } from './commands/telemetry.ts'
import { usageCommand } from './commands/usage.ts'
import { whyCommand } from './commands/why.ts'
import { workspacesCommand } from './commands/workspaces.ts'
import { addConnectionOptions, otherVersion, strangeAnswer } from './context.ts'
import { CliError, type ErrorFields, EXIT, usageError } from './exit.ts'
import { STANDARD } from './files.ts'
import { describeEnvironment, EXAMPLES, EXITS } from './help.ts'
import { type Io, paint } from './terminal.ts'

/** Marks a usage error whose message has been written. */
class UsageShown extends Error {}

/** The whole command tree. @param isJson whether errors are JSON, and not told as they are met. */
export function buildProgram(io: Io, isJson = false): Command {
  const program = new Command('svc')
    .description(
      "Event-timeline agent service: events from many systems in one store, one entity's timeline out.",
    )
    .version(`svc ${version}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', `\n${EXAMPLES}`)
    .hook('preAction', () => guardOldVariables(io.env))
  program.commandsGroup('Daemon:')
  program.addCommand(upCommand(io))
  program.addCommand(mcpCommand(io))
  program.addCommand(telemetryCommand(io))
  program.addCommand(statusCommand(io))
  program.commandsGroup('Login:')
  program.addCommand(loginCommand(io))
  program.addCommand(logoutCommand(io))
  program.addCommand(whoamiCommand(io))
  program.commandsGroup('Timeline:')
  program.addCommand(readCommand(io))
  program.addCommand(tailCommand(io))
  program.addCommand(sendCommand(io))
  program.addCommand(eventsCommand(io))
  program.addCommand(askCommand(io))
  program.commandsGroup('Firings:')
  program.addCommand(incidentsCommand(io))
  program.addCommand(maintenanceCommand(io))
  program.addCommand(firingsCommand(io))
  program.addCommand(deliveriesCommand(io))
  program.addCommand(whyCommand(io, 'why'))
  for (const command of subscriptionCommands(io)) program.addCommand(command)
  program.commandsGroup('Agents:')
  program.addCommand(runsCommand(io))
  program.addCommand(findingsCommand(io))
  program.addCommand(replayCommand(io))
  program.addCommand(evalsCommand(io))
  program.addCommand(usageCommand(io))
  program.commandsGroup('Setup:')
  program.addCommand(demoCommand(io))
  program.addCommand(sourcesCommand(io))
  program.addCommand(keysCommand(io))
  program.addCommand(credentialsCommand(io))
  program.addCommand(slackCommand(io))
  program.addCommand(workspacesCommand(io))
  program.commandsGroup('Declared:')
  program.addCommand(projectsCommand(io))
  program.addCommand(triggersCommand(io))
  program.addCommand(agentsCommand(io))
  program.addCommand(mcpServersCommand(io))
  program.addCommand(entitiesCommand(io))
  program.addCommand(skillsCommand(io))
  program.addCommand(catalogCommand(io))
  program.addCommand(changesCommand(io))
  program.addCommand(proposalsCommand(io))
  program.commandsGroup('Data:')
  program.addCommand(fileCommand(io, 'backup'))
  program.addCommand(fileCommand(io, 'restore'))
  program.commandsGroup('Other:')
  program.addCommand(completionCommand(io))
  program.addCommand(namesCommand(io), { hidden: true })
  program.addHelpCommand(
    new Command('help').argument('[command]').description('Show help for a command').helpGroup('Other:'),
  )
  forEachCommand(program, (command) => prepare(io, command, isJson))
  return program
}

function upCommand(io: Io): Command {
  return new Command('up')
    .description('Start the daemon and the console')
    .option('--host <host>', 'bind address (SVC_HOST, else 127.0.0.1); 0.0.0.0 exposes it')
    .option('--port <port>', 'bind port (SVC_PORT, else 8787)')
    .option('--data-dir <dir>', 'data home (SVC_HOME, else ~/.svc)')
    .option('--open', 'open the console in the browser')
    .option('--demo', 'load the demo where it is not loaded')
    .option(
      '--accept-loss',
      'start once although the data file lacks acknowledged data; says what is missing',
    )
    .option('--auth [token]', 'require a login; without a token one is made and kept in the data home')
    .addHelpText('after', () => `\n${describeEnvironment()}`)
    .action(
      async (flags: {
        host?: string
        port?: string
        dataDir?: string
        open?: boolean
        demo?: boolean
        acceptLoss?: boolean
        auth?: string | true
      }) => {
        const { up } = await import('./commands/up.ts')
        await up(io, flags)
      },
    )
}

function fileCommand(io: Io, name: 'backup' | 'restore'): Command {
  const isBackup = name === 'backup'
  return new Command(name)
    .description(
      isBackup
        ? 'Copy the data file; the daemon may run'
        : 'Put a backup in place of the data file; the daemon must be stopped',
    )
    .argument('<file>', isBackup ? 'file to write; it must not exist' : 'backup to restore')
    .addHelpText('after', '\nIt is a data file, not a text: - for standard input or output is not taken.')
    .option('--data-dir <dir>', 'data home (SVC_HOME, else ~/.svc)')
    .option('--json', 'print the result as JSON')
    .action(async (file: string, flags: { dataDir?: string; json?: boolean }) => {
      if (file === STANDARD)
        throw usageError(`${name} takes a file by its name, not standard input or output`)
      const commands = await import('./commands/backup.ts')
      await commands[name](io, file, flags)
    })
}

/** Connection options, help in the terminal's colours, output through `io`, usage on standard error for a mistake. */
function prepare(io: Io, command: Command, isJson: boolean): void {
  addConnectionOptions(command)
  if (command.parent && command.commands.length === 0) command.addHelpText('after', `\n${EXITS}`)
  command
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      outputError: (text) => void (isJson || io.err(text.replace(/^error: /, 'svc: '))),
      getOutHasColors: () => io.colour,
      getErrHasColors: () => io.colour,
    })
    .configureHelp({
      // Beside the options, also of a narrow terminal: a description that is not wrapped runs on into their column.
      minWidthToWrap: 20,
      styleTitle: (text: string) => paint(io, 'bold', text),
      styleCommandText: (text: string) => paint(io, 'cyan', text),
      styleOptionText: (text: string) => paint(io, 'cyan', text),
    } as Partial<Help>)
    .exitOverride((error) => {
      if (error.exitCode !== 0 && error.code !== 'commander.help') {
        if (!isJson)
          io.err(`usage: ${pathOf(command)} ${command.usage()}\nrun "${pathOf(command)} --help" for more\n`)
        throw new UsageShown(error.message)
      }
      throw error
    })
}

/**
 * Runs one command line.
 * @returns the exit code; a message for the person is on standard error when it is not 0, with --json as
 *   JSON on its last line.
 */
export async function run(io: Io, argv: readonly string[]): Promise<number> {
  const isJson = asksForJson(argv)
  const program = buildProgram(io, isJson)
  if (argv.length === 0) {
    program.outputHelp()
    return EXIT.ok
  }
  try {
    const asked = helpAsked(io, program, argv, isJson)
    if (asked) {
      asked.outputHelp()
      return EXIT.ok
    }
    refuseUnknownVerb(io, program, argv, isJson)
    await program.parseAsync([...argv], { from: 'user' })
    return EXIT.ok
  } catch (error) {
    const strange = told(error).exitCode === EXIT.fault ? await strangeAnswer(io) : null
    const apart = isOfVersions(error) ? await otherVersion(io) : null
    return report(io, strange ?? error, isJson, apart)
  }
}

/**
 * Whether a daemon of another version may be why: it does not know a path or a field, or its answer is not what the
 * command goes by.
 */
function isOfVersions(error: unknown): boolean {
  const { exitCode, message, fields } = told(error)
  if (exitCode === EXIT.fault || fields?.status === 405) return true
  return (
    (fields?.status === 404 && message.startsWith('unknown API path')) ||
    (fields?.status === 400 && / is not a known field/.test(message))
  )
}

/**
 * A noun alone lists, so that the parser takes a verb it does not know for an argument of that list, and says that the
 * list takes none.
 */
function refuseUnknownVerb(io: Io, program: Command, [noun, verb]: readonly string[], isJson: boolean): void {
  const group = program.commands.find((one) => one.name() === noun)
  if (!group?.commands.length || verb === undefined || verb.startsWith('-') || verb === HELP) return
  if (!commandIn(group, verb)) refuseCommand(io, group, verb, isJson)
}

/**
 * The command that `svc help sources list`, or `svc sources help list`, asks about; null: no help is asked for. The
 * parser would show the help of whatever it knows for a name that it does not.
 */
function helpAsked(io: Io, program: Command, argv: readonly string[], isJson: boolean): Command | null {
  const words = argv.filter((word) => !word.startsWith('-'))
  const at = words.indexOf(HELP)
  const holder = at === 1 ? commandIn(program, words[0]!) : program
  if (at < 0 || at > 1 || (at === 1 && !holder?.commands.length)) return null
  return words.slice(at + 1).reduce((group, word) => {
    // The command `help` has no help of its own: the whole program's help describes it.
    if (word === HELP && group === program) return group
    return commandIn(group, word) ?? refuseCommand(io, group, word, isJson)
  }, holder!)
}

const HELP = 'help'

const commandIn = (group: Command, word: string): Command | undefined =>
  group.commands.find((one) => one.name() === word || one.aliases().includes(word))

/** @throws UsageShown */
function refuseCommand(io: Io, group: Command, word: string, isJson: boolean): never {
  const known = group.commands.flatMap((one) => [one.name(), ...one.aliases()])
  const message = `unknown command '${word}'${didYouMean(word, known)}`
  if (!isJson)
    io.err(
      `svc: ${message}\nusage: ${pathOf(group)} ${group.usage()}\nrun "${pathOf(group)} --help" for more\n`,
    )
  throw new UsageShown(message)
}

function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}

/** @param apart what is told beside it, of the versions of command and daemon */
function report(io: Io, error: unknown, isJson: boolean, apart: string | null): number {
  const { exitCode, fields, ...rest } = told(error)
  const message = rest.message && apart !== null ? `${rest.message}\n${apart}` : rest.message
  // Some exit codes are an answer, such as that of a plan with changes.
  if (message && exitCode !== EXIT.ok)
    io.err(
      isJson
        ? `${JSON.stringify({ error: message, exit_code: exitCode, ...fields })}\n`
        : shown(error, message),
    )
  return exitCode
}

/** Usage is told by the parser, where it is met. */
const shown = (error: unknown, message: string): string =>
  error instanceof UsageShown || error instanceof CommanderError ? '' : `svc: ${message}\n`

function told(error: unknown): { exitCode: number; message: string; fields?: ErrorFields | undefined } {
  const { message, stack, exitCode, code, name } = error as Error & { exitCode?: unknown; code?: unknown }
  if (error instanceof UsageShown) return { exitCode: EXIT.usage, message: message.replace(/^error: /, '') }
  if (error instanceof CommanderError)
    return error.exitCode === 0 || error.code === 'commander.help'
      ? { exitCode: EXIT.ok, message: '' }
      : { exitCode: EXIT.usage, message }
  if (typeof exitCode === 'number')
    return { exitCode, message, fields: error instanceof CliError ? error.fields : undefined }
  if ((error as NodeJS.ErrnoException).syscall === 'uv_cwd')
    return {
      exitCode: EXIT.input,
      message:
        'the folder this is run in no longer exists, so a relative path leads nowhere; change to another folder, or give a whole path',
    }
  // A refusal of the engine (an error with one of its codes) or of the system: a sentence will do.
  if (name === 'SvcError' || typeof code === 'string') return { exitCode: EXIT.failed, message }
  return { exitCode: EXIT.fault, message: `a fault of ours: ${stack ?? message}` }
}

function forEachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command)
  for (const child of command.commands) forEachCommand(child, visit)
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}
