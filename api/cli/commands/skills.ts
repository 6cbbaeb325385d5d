/** `svc skills`: instructions that agents load on demand, as SKILL.md files (SPEC.md, Skills). */
import { Command } from 'commander'
import type { Skill, SkillRemoved, SkillSummary } from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { readBytes } from '../files.ts'
import { escapeLine, escapeText, type Io, printJson, printText, table } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag
type InProject = Flags & { project: string }

/** The command and its subcommands. */
export function skillsCommand(io: Io): Command {
  const group = new Command('skills').description('List, show, upload, download, share and remove skills')
  group.addCommand(
    clientCommand('list', 'List skills').action((flags: Flags) => list(io, flags)),
    { isDefault: true },
  )
  group.addCommand(
    inProject('show', 'Show a skill', '<name>').action((name: string, flags: InProject) =>
      show(io, name, flags),
    ),
  )
  group.addCommand(
    inProject('download', 'Print a skill as a SKILL.md file', '<name>').action(
      async (name: string, flags: InProject) => {
        const { text } = await clientOf(io, flags).call(`${pathOf(flags.project, name)}/download`)
        printText(io, text)
      },
    ),
  )
  group.addCommand(
    inProject(
      'upload',
      'Create or replace a skill from a SKILL.md file, - for standard input',
      '<file>',
    ).action((file: string, flags: InProject) => upload(io, file, flags)),
  )
  group.addCommand(
    inProject('use', 'Use a skill another project made', '<name>').action((name: string, flags: InProject) =>
      use(io, name, flags),
    ),
  )
  group.addCommand(
    inProject('remove', 'Stop using a skill; the last project deletes it', '<name>').action(
      (name: string, flags: InProject) => remove(io, name, flags),
    ),
  )
  return group
}

function inProject(name: string, description: string, argument: string): Command {
  return clientCommand(name, description)
    .argument(argument)
    .requiredOption('--project <project>', 'project, by id or name')
}

const skillsOf = (project: string) => `/api/projects/${encodeURIComponent(project)}/skills`
const pathOf = (project: string, name: string) => `${skillsOf(project)}/${encodeURIComponent(name)}`

async function list(io: Io, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call('/api/skills')
  if (flags.json) return printJson(io, text)
  const skills = JSON.parse(text) as SkillSummary[]
  io.out(
    table(
      io,
      [
        { title: 'NAME', cell: (skill: SkillSummary) => skill.name },
        { title: 'USED BY', cell: (skill) => skill.used_by.map(({ name }) => name).join(', ') },
        { title: 'BYTES', cell: (skill) => String(skill.size) },
        { title: 'DESCRIPTION', cell: (skill) => skill.description },
      ],
      skills,
    ),
  )
}

async function show(io: Io, skill: string, flags: InProject): Promise<void> {
  const { text } = await clientOf(io, flags).call(pathOf(flags.project, skill))
  if (flags.json) return printJson(io, text)
  const { name, description, body, updated_at } = JSON.parse(text) as Skill
  io.out(`${name}, changed ${updated_at}\n${escapeLine(description)}\n\n${escapeText(body.trimEnd())}\n`)
}

async function upload(io: Io, file: string, flags: InProject): Promise<void> {
  const { text } = await clientOf(io, flags).call(`${skillsOf(flags.project)}/upload`, {
    method: 'POST',
    body: await readBytes(io, file),
    headers: { 'content-type': 'text/markdown' },
  })
  if (flags.json) return printJson(io, text)
  const { name, created } = JSON.parse(text) as Skill
  io.out(`${name} ${created ? 'added' : 'replaced, in every project that uses it'}\n`)
}

async function use(io: Io, name: string, flags: InProject): Promise<void> {
  const { text } = await clientOf(io, flags).call(`${pathOf(flags.project, name)}/use`, { method: 'POST' })
  if (flags.json) printJson(io, text)
  else io.out(`${escapeLine(`${flags.project} uses ${name}`)}\n`)
}

async function remove(io: Io, name: string, flags: InProject): Promise<void> {
  const { text } = await clientOf(io, flags).call(pathOf(flags.project, name), { method: 'DELETE' })
  if (flags.json) return printJson(io, text)
  const { deleted, kept_for } = JSON.parse(text) as SkillRemoved
  const left = `${kept_for.length} ${kept_for.length === 1 ? 'other project' : 'other projects'}`
  io.out(`${escapeLine(name)} is ${deleted ? 'deleted' : `kept for ${left}`}\n`)
}
