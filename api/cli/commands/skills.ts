/** `svc skills`: instructions that agents load on demand, as SKILL.md files (SPEC.md, Skills). */
import { type Command, Option } from 'commander'
import type { SkillSummary } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf } from '../context.ts'
import { readBytes } from '../files.ts'
import { type Column, escapeLine, escapeText, type Io, printText } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, say, toName, verb } from '../verbs.ts'

type InProject = Flags & { project: string }

const SKILLS: Column<SkillSummary>[] = [
  { title: 'NAME', cell: (skill) => skill.name },
  { title: 'USED BY', cell: (skill) => skill.used_by.map(({ name }) => name).join(', ') },
  { title: 'BYTES', cell: (skill) => String(skill.size) },
  { title: 'DESCRIPTION', cell: (skill) => skill.description },
]

const project = () => new Option('--project <project>', 'project, by id or name').makeOptionMandatory()
/** A skill of a project: what every verb but `list` and `upload` asks about. */
const ofProject = () => ({
  args: ['<name>'],
  options: [project()],
  input: ({ words: [name = ''], flags }: GivenWords<InProject>) => ({ id: flags.project, name }),
})

/** The command and its subcommands. */
export const skillsCommand = noun('skills', 'List, show, upload, download, share and remove skills', {
  list: verb({ does: 'List skills', call: calls.listSkills, tell: rows(SKILLS) }),
  show: verb({
    does: 'Show a skill',
    call: calls.getProjectSkill,
    ...ofProject(),
    tell: (io, { name, description, body, updated_at }) =>
      io.out(`${name}, changed ${updated_at}\n${escapeLine(description)}\n\n${escapeText(body.trimEnd())}\n`),
  }),
  download: downloadCommand,
  upload: verb({
    does: 'Create or replace a skill from a SKILL.md file, - for standard input',
    call: calls.uploadSkill,
    args: ['<file>'],
    options: [project()],
    input: async ({ words: [file = ''], flags }: GivenWords<InProject>, _client, io) => ({
      id: flags.project,
      body: await readBytes(io, file),
    }),
    tell: say((_words, { name, created }) =>
      created ? `${name} added` : `${name} replaced, in every project that uses it`,
    ),
  }),
  use: verb({
    does: 'Use a skill another project made',
    call: calls.useSkill,
    ...ofProject(),
    tell: say(([name], _skill, flags: InProject) => `${flags.project} uses ${name}`),
  }),
  rename: verb({
    does: 'Give it another name, in every project that uses it',
    call: calls.renameSkill,
    ...toName,
    tell: say(([name, to]) => `${name} is now called ${to}`),
  }),
  remove: verb({
    does: 'Stop using a skill; the last project deletes it',
    call: calls.removeSkill,
    ...ofProject(),
    tell: say(([name], { deleted, kept_for }) => {
      const left = `${kept_for.length} ${kept_for.length === 1 ? 'other project' : 'other projects'}`
      return `${name} is ${deleted ? 'deleted' : `kept for ${left}`}`
    }),
  }),
})

/** It prints a file, with --json too. */
function downloadCommand(io: Io): Command {
  return clientCommand('download', 'Print a skill as a SKILL.md file')
    .argument('<name>')
    .addOption(project())
    .action(async (name: string, flags: InProject) => {
      const { text } = await clientOf(io, flags).call(calls.downloadSkill, { id: flags.project, name })
      printText(io, text)
    })
}
