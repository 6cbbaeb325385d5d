/** `svc projects`: list, make, pause, resume, repair and delete projects (/api/projects). */
import { Command, Option } from 'commander'
import type {
  Project,
  ProjectDeleted,
  ProjectGraph,
  ResultsResult,
  TemplatesResult,
} from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { usageError } from '../exit.ts'
import { graphOutline } from '../graph-outline.ts'
import { repeatable } from '../labels.ts'
import { markText } from '../run-text.ts'
import { escapeLine, type Io, printJson, table } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag
const KINDS = ['source', 'trigger', 'agent', 'mcp_server', 'skill'] as const

/** The command and its subcommands. */
export function projectsCommand(io: Io): Command {
  const group = new Command('projects').description('List, make, pause, resume, repair and delete projects')
  group.addCommand(
    clientCommand('list', 'List projects').action((flags: Flags) => list(io, flags)),
    {
      isDefault: true,
    },
  )
  group.addCommand(
    clientCommand('show', 'Show a project with its parts and wiring')
      .argument('<project>', 'id or name')
      .action((project: string, flags: Flags) => show(io, project, flags)),
  )
  group.addCommand(
    clientCommand('graph', 'Show what leads to what, and what happened today')
      .argument('<project>', 'id or name')
      .action((project: string, flags: Flags) => graph(io, project, flags)),
  )
  group.addCommand(
    clientCommand('templates', 'List the templates').action((flags: Flags) => templates(io, flags)),
  )
  group.addCommand(
    clientCommand('create', 'Make a project from a template, or of parts with --template custom')
      .requiredOption('--template <key>', 'template, or custom')
      .option('--name <name>', 'name; custom needs one')
      .option('--goal <text>', 'what it is for, in one line')
      .addOption(repeatable('--param <name=value>', 'a parameter; JSON where it is not text'))
      .addOption(repeatable('--object <kind:name>', 'a part a custom project adopts'))
      .action((flags: Flags & Create) => create(io, flags)),
  )
  group.addCommand(
    clientCommand('pause', 'Stop its triggers and agents')
      .argument('<project>')
      .option('--sources', 'its sources, too')
      .action((project: string, flags: Flags & { sources?: boolean }) =>
        move(io, project, 'pause', flags, { sources: flags.sources ?? false }),
      ),
  )
  group.addCommand(
    clientCommand('resume', 'Restore exactly what pause stopped')
      .argument('<project>')
      .action((project: string, flags: Flags) => move(io, project, 'resume', flags)),
  )
  group.addCommand(
    clientCommand('repair', 'Make one planned object again, or reset it')
      .argument('<project>')
      .argument('<key>', 'key in the plan, or kind:key')
      .action((project: string, key: string, flags: Flags) => move(io, project, 'repair', flags, { key })),
  )
  group.addCommand(
    clientCommand('results', 'List what the agents found')
      .argument('<project>', 'id or name')
      .addOption(
        new Option('--mark <mark>', 'only results that are marked so; any: marked, none: not marked').choices(
          ['right', 'wrong', 'partly', 'any', 'none'],
        ),
      )
      .action((project: string, flags: Flags & { mark?: string }) => results(io, project, flags)),
  )
  group.addCommand(
    clientCommand('delete', 'Delete a project; a template takes what it made along')
      .argument('<project>')
      .option('--purge-events', 'remove the stored events of deleted sources for good')
      .option('--keep-parts', 'leave every part in place')
      .action((project: string, flags: Flags & { purgeEvents?: boolean; keepParts?: boolean }) =>
        remove(io, project, flags),
      ),
  )
  return group
}

interface Create {
  template: string
  name?: string
  goal?: string
  param?: string[]
  object?: string[]
}

const path = (project: string) => `/api/projects/${encodeURIComponent(project)}`

async function list(io: Io, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call('/api/projects')
  if (flags.json) return printJson(io, text)
  const { projects } = JSON.parse(text) as { projects: Project[] }
  if (projects.length === 0)
    return void io.out('no projects yet; "svc projects templates" lists what to start from\n')
  io.out(
    table(
      io,
      [
        { title: 'ID', cell: (project: Project) => project.id },
        { title: 'NAME', cell: (project) => project.name },
        { title: 'TEMPLATE', cell: (project) => project.template },
        {
          title: 'STATE',
          cell: (project) => project.state,
          style: (p) => (p.status === 'active' ? 'green' : 'dim'),
        },
        { title: 'PARTS', cell: (project) => String(project.objects.length) },
        { title: 'GOAL', cell: (project) => project.goal ?? '' },
      ],
      projects,
    ),
  )
}

async function show(io: Io, project: string, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(path(project))
  if (flags.json) return printJson(io, text)
  const shown = JSON.parse(text) as Project
  io.out(`${escapeLine(shown.name)}  ${shown.id}  ${shown.template_title}  ${shown.state}\n`)
  if (shown.goal) io.out(`${escapeLine(shown.goal)}\n`)
  for (const { kind, name, state } of shown.objects)
    io.out(`  ${kind} ${escapeLine(name)}${state === 'used' || state === 'planned' ? '' : ` (${state})`}\n`)
  for (const { trigger, agent, enabled } of shown.wiring.wakes)
    io.out(`  ${escapeLine(trigger)} wakes ${escapeLine(agent)}${enabled ? '' : ' (off)'}\n`)
  for (const { agent, verdict, to, cooldown } of shown.wiring.handoffs)
    io.out(
      `  ${escapeLine(agent)} hands over to ${escapeLine(to)} on ${verdict}, at most once every ${cooldown}\n`,
    )
}

async function graph(io: Io, project: string, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(`${path(project)}/graph`)
  if (flags.json) return printJson(io, text)
  for (const line of graphOutline(JSON.parse(text) as ProjectGraph)) io.out(`${line}\n`)
}

async function templates(io: Io, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call('/api/projects/templates')
  if (flags.json) return printJson(io, text)
  const { templates: all } = JSON.parse(text) as TemplatesResult
  io.out(
    table(
      io,
      [
        { title: 'KEY', cell: (template: TemplatesResult['templates'][number]) => template.key },
        { title: 'TITLE', cell: (template) => template.title },
        {
          title: 'PARAMETERS',
          cell: (template) => Object.keys((template.params.properties ?? {}) as object).join(', '),
        },
        { title: 'NEEDS', cell: (template) => (template.missing_connectors ?? []).join(', ') },
      ],
      all,
    ),
  )
}

async function create(io: Io, flags: Flags & Create): Promise<void> {
  const { param = [], object = [] } = flags
  const params = Object.fromEntries(param.map(parameterOf))
  const json = {
    template: flags.template,
    ...(flags.name ? { name: flags.name } : {}),
    ...(flags.goal ? { goal: flags.goal } : {}),
    ...(param.length ? { params } : {}),
    ...(object.length ? { objects: object.map(objectOf) } : {}),
  }
  const { text } = await clientOf(io, flags).call('/api/projects', { method: 'POST', json })
  if (flags.json) return printJson(io, text)
  const made = JSON.parse(text) as Project
  io.out(`made ${escapeLine(made.name)} (${made.id}) with ${made.objects.length} parts\n`)
}

/** Text stays text; a number, true, a list or a map is read as JSON. */
function parameterOf(text: string): [string, unknown] {
  const at = text.indexOf('=')
  if (at < 1) throw usageError(`--param ${text}: must be name=value`)
  const value = text.slice(at + 1)
  if (!/^(-?\d|true$|false$|null$|[[{"])/.test(value)) return [text.slice(0, at), value]
  try {
    return [text.slice(0, at), JSON.parse(value) as unknown]
  } catch {
    // 5m begins like a number and is text.
    return [text.slice(0, at), value]
  }
}

function objectOf(text: string): { kind: string; name: string } {
  const at = text.indexOf(':')
  const kind = text.slice(0, Math.max(0, at))
  if (!(KINDS as readonly string[]).includes(kind))
    throw usageError(`--object ${text}: must be kind:name, with one of ${KINDS.join(', ')}`)
  return { kind, name: text.slice(at + 1) }
}

async function move(io: Io, project: string, event: string, flags: Flags, json: object = {}): Promise<void> {
  const { text } = await clientOf(io, flags).call(`${path(project)}/${event}`, { method: 'POST', json })
  if (flags.json) return printJson(io, text)
  const { name, state } = JSON.parse(text) as Project
  io.out(`${escapeLine(name)} is ${state}\n`)
}

async function results(io: Io, project: string, flags: Flags & { mark?: string }): Promise<void> {
  const narrowed = flags.mark === undefined ? '' : `?mark=${flags.mark}`
  const { text } = await clientOf(io, flags).call(`${path(project)}/results${narrowed}`)
  if (flags.json) return printJson(io, text)
  const { results: found } = JSON.parse(text) as ResultsResult
  if (found.length === 0) return void io.out('nothing found yet\n')
  for (const { at, entity, verdict, headline, next_step, handled, mark } of found) {
    const said = `${handled ? '  (handled)' : ''}${mark ? `  (${escapeLine(markText(mark))})` : ''}`
    io.out(`${at}  ${escapeLine(entity)}  ${verdict ?? '-'}  ${escapeLine(headline)}${said}\n`)
    if (next_step) io.out(`    next: ${escapeLine(next_step)}\n`)
  }
}

async function remove(
  io: Io,
  project: string,
  flags: Flags & { purgeEvents?: boolean; keepParts?: boolean },
): Promise<void> {
  const query = new URLSearchParams({
    purge_events: String(flags.purgeEvents ?? false),
    ...(flags.keepParts ? { delete: '' } : {}),
  })
  const { text } = await clientOf(io, flags).call(`${path(project)}?${query}`, { method: 'DELETE' })
  if (flags.json) return printJson(io, text)
  const { deleted, released, change_set } = JSON.parse(text) as ProjectDeleted
  io.out(`deleted ${escapeLine(project)} with ${deleted.length} parts; ${released.length} stay\n`)
  io.err(`"svc changes undo ${change_set}" brings it back\n`)
}
