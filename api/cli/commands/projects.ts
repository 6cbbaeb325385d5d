/** `svc projects`: list, make, pause, resume, repair and delete projects (/api/projects). */
import { Argument, Option } from 'commander'
import { countWords } from '../../../schemas/plain-words.ts'
import type {
  Project,
  ProjectCard,
  ProjectCreate,
  ProjectDeleted,
  ProjectShown,
  ResultsResult,
  Template,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { usageError } from '../exit.ts'
import { graphOutline } from '../graph-outline.ts'
import { repeatable } from '../labels.ts'
import { markText } from '../run-text.ts'
import { type Column, escapeLine, type Io } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, say, verb } from '../verbs.ts'

const KINDS = ['source', 'trigger', 'agent', 'mcp_server', 'skill'] as const

/** Unlike a card, which is what a key of the project sees. */
const isWhole = (project: ProjectShown): project is Project => 'wiring' in project

const partsOf = (project: ProjectShown): readonly unknown[] =>
  isWhole(project) ? project.objects : [...project.sources, ...project.triggers, ...project.skills]

const PROJECTS: Column<ProjectShown>[] = [
  { title: 'ID', cell: (project) => project.id },
  { title: 'NAME', cell: (project) => project.name },
  { title: 'TEMPLATE', cell: (project) => project.template },
  {
    title: 'STATE',
    cell: (project) => (isWhole(project) ? project.state : project.status),
    style: (p) => (p.status === 'active' ? 'green' : 'dim'),
  },
  { title: 'PARTS', cell: (project) => String(partsOf(project).length) },
  { title: 'GOAL', cell: (project) => project.goal ?? '' },
]
const NO_PROJECTS = 'no projects yet; "svc projects templates" lists what to start from'

const TEMPLATES: Column<Template>[] = [
  { title: 'KEY', cell: (template) => template.key },
  { title: 'TITLE', cell: (template) => template.title },
  {
    title: 'PARAMETERS',
    cell: (template) => Object.keys((template.params.properties ?? {}) as object).join(', '),
  },
  { title: 'NEEDS', cell: (template) => (template.missing_connectors ?? []).join(', ') },
]

const NAMED = [new Argument('<project>', 'id or name')]
const PROJECT = ['<project>']
const stateOf = say((_words, { name, state }: Project) => `${name} is ${state}`)

/** The command and its subcommands. */
export const projectsCommand = noun('projects', 'List, make, pause, resume, repair and delete projects', {
  list: verb({
    does: 'List projects',
    call: calls.listProjects,
    tell: (io, { projects }) => rows(PROJECTS, NO_PROJECTS)(io, projects),
  }),
  show: verb({
    does: 'Show a project with its parts and wiring',
    call: calls.getProject,
    args: NAMED,
    tell: tellProject,
  }),
  graph: verb({
    does: 'Show what leads to what, and what happened today',
    call: calls.getProjectGraph,
    args: NAMED,
    tell: (io, graph) => {
      for (const line of graphOutline(graph)) io.out(`${line}\n`)
    },
  }),
  templates: verb({
    does: 'List the templates',
    call: calls.listTemplates,
    tell: (io, { templates }) => rows(TEMPLATES)(io, templates),
  }),
  create: verb({
    does: 'Make a project from a template, or of parts with --template custom',
    call: calls.createProject,
    options: [
      new Option('--template <key>', 'template, or custom').makeOptionMandatory(),
      ['--name <name>', 'name; custom needs one'],
      ['--goal <text>', 'what it is for, in one line'],
      repeatable('--param <name=value>', 'a parameter; JSON where it is not text'),
      repeatable('--object <kind:name>', 'a part a custom project adopts'),
    ],
    input: ({ flags }: GivenWords<Create>) => ({ body: projectOf(flags) }),
    tell: say(
      (_words, { name, id, objects }) => `made ${name} (${id}) with ${countWords(objects.length, 'part')}`,
    ),
  }),
  pause: verb({
    does: 'Stop its triggers and agents',
    call: calls.pauseProject,
    args: PROJECT,
    options: [['--sources', 'its sources, too']],
    input: ({ words: [id = ''], flags }: GivenWords<Flags & { sources?: boolean }>) => ({
      id,
      body: { sources: flags.sources ?? false },
    }),
    tell: stateOf,
  }),
  resume: verb({
    does: 'Restore exactly what pause stopped',
    call: calls.resumeProject,
    args: PROJECT,
    tell: stateOf,
  }),
  repair: verb({
    does: 'Make one planned object again, or reset it',
    call: calls.repairProject,
    args: [...PROJECT, new Argument('<key>', 'key in the plan, or kind:key')],
    input: ({ words: [id = '', key = ''] }) => ({ id, body: { key } }),
    tell: stateOf,
  }),
  results: verb({
    does: 'List what the agents found',
    call: calls.listResults,
    args: NAMED,
    options: [
      new Option('--mark <mark>', 'only results that are marked so; any: marked, none: not marked').choices([
        ...['right', 'wrong', 'partly', 'any', 'none'],
      ]),
    ],
    tell: tellResults,
  }),
  delete: verb({
    does: 'Delete a project; a template takes what it made along',
    call: calls.deleteProject,
    args: PROJECT,
    options: [
      ['--purge-events', 'remove the stored events of deleted sources for good'],
      ['--keep-parts', 'leave every part in place'],
    ],
    input: ({
      words: [id = ''],
      flags,
    }: GivenWords<Flags & { purgeEvents?: boolean; keepParts?: boolean }>) => ({
      id,
      purge_events: flags.purgeEvents ?? false,
      delete: flags.keepParts ? '' : undefined,
    }),
    tell: tellDeleted,
  }),
})

interface Create extends Flags {
  template: string
  name?: string
  goal?: string
  param?: string[]
  object?: string[]
}

function tellProject(io: Io, shown: ProjectShown): void {
  const facts = isWhole(shown) ? [shown.template_title, shown.state] : [shown.template, shown.status]
  io.out(`${[escapeLine(shown.name), shown.id, ...facts].join('  ')}\n`)
  if (shown.goal) io.out(`${escapeLine(shown.goal)}\n`)
  if (isWhole(shown)) tellWiring(io, shown)
  else tellCard(io, shown)
}

function tellWiring(io: Io, shown: Project): void {
  for (const { kind, name, state } of shown.objects)
    io.out(`  ${kind} ${escapeLine(name)}${state === 'used' || state === 'planned' ? '' : ` (${state})`}\n`)
  for (const { trigger, agent, enabled } of shown.wiring.wakes)
    io.out(`  ${escapeLine(trigger)} wakes ${escapeLine(agent)}${enabled ? '' : ' (off)'}\n`)
  for (const { agent, verdict, to, cooldown } of shown.wiring.handoffs)
    io.out(
      `  ${escapeLine(agent)} hands over to ${escapeLine(to)} on ${verdict}, at most once every ${cooldown}\n`,
    )
}

/** What a key of the project sees of it. */
function tellCard(io: Io, { sources, triggers, skills }: ProjectCard): void {
  for (const [kind, names] of Object.entries({ source: sources, trigger: triggers, skill: skills }))
    for (const name of names) io.out(`  ${kind} ${escapeLine(name)}\n`)
}

function projectOf({ template, name, goal, param = [], object = [] }: Create): ProjectCreate {
  return {
    template,
    ...(name ? { name } : {}),
    ...(goal ? { goal } : {}),
    ...(param.length ? { params: Object.fromEntries(param.map(parameterOf)) } : {}),
    ...(object.length ? { objects: object.map(objectOf) } : {}),
  }
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

function objectOf(text: string): { kind: (typeof KINDS)[number]; name: string } {
  const at = text.indexOf(':')
  const kind = KINDS.find((one) => one === text.slice(0, Math.max(0, at)))
  if (kind === undefined)
    throw usageError(`--object ${text}: must be kind:name, with one of ${KINDS.join(', ')}`)
  return { kind, name: text.slice(at + 1) }
}

function tellResults(io: Io, { results: found }: ResultsResult): void {
  if (found.length === 0) return void io.out('nothing found yet\n')
  for (const { at, entity, verdict, headline, next_step, handled, mark } of found) {
    const said = `${handled ? '  (handled)' : ''}${mark ? `  (${escapeLine(markText(mark))})` : ''}`
    io.out(`${at}  ${escapeLine(entity)}  ${verdict ?? '-'}  ${escapeLine(headline)}${said}\n`)
    if (next_step) io.out(`    next: ${escapeLine(next_step)}\n`)
  }
}

function tellDeleted(
  io: Io,
  { deleted, released, left_paused = [], unwired, change_set }: ProjectDeleted,
  { words: [project = ''] }: GivenWords,
): void {
  io.out(
    `deleted ${escapeLine(project)} with ${countWords(deleted.length, 'part')}; ${countWords(released.length, 'stays', 'stay')}\n`,
  )
  if (left_paused.length)
    io.err(`paused with it and still paused: ${left_paused.map(escapeLine).join(', ')}; resume each\n`)
  const left = [...new Set(unwired?.wakes.map(({ agent }) => agent))]
  if (left.length) io.err(`it no longer wakes ${left.map(escapeLine).join(', ')}, which stay\n`)
  io.err(`"svc changes undo ${change_set}" brings it back\n`)
}
