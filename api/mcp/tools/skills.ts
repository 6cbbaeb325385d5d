/** The tools of skills: instructions written by people for agents of a project. */
import type {
  Skill,
  ToolListSkills,
  ToolListSkillsResult,
  ToolSkill,
  ToolSkillResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { more, pageOf } from '../paging.ts'
import { projectOf } from '../project.ts'
import { type Context, defineTool, READS, ToolError } from '../tool.ts'

export const listSkills = defineTool<ToolListSkills, ToolListSkillsResult>({
  name: 'list_skills',
  title: 'List skills',
  description:
    'Instruction documents for agents, each with the task it is for. Look here before work in a project.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  async run({ project, cursor }, context) {
    const page = pageOf(
      (await skillsOf(project, context)).map(({ name, description, size }) => ({ name, description, size })),
      cursor,
    )
    return {
      text:
        (page.entries.map(({ name, description }) => `${name}: ${description}`).join('\n') || 'no skills') +
        more(page.next_cursor),
      content: { skills: page.entries, next_cursor: page.next_cursor },
    }
  },
})

export const skill = defineTool<ToolSkill, ToolSkillResult>({
  name: 'skill',
  title: 'Load a skill',
  description:
    'The whole text of a skill. Load one before you rely on it, and only when your task matches its description.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  async run({ name, project }, context) {
    const { description, body, updated_at } = await loadSkill(name, project, context)
    return { text: body, content: { name, description, body, updated_at } }
  },
})

/** @returns the skill. @throws ToolError that lists the skills where none has the name. */
export async function loadSkill(
  name: string,
  project: string | undefined,
  context: Pick<Context, 'daemon' | 'signal' | 'identity'>,
): Promise<Skill> {
  const skills = await skillsOf(project, context)
  const found = skills.find((one) => one.name === name)
  const user = found?.project
  if (user === undefined)
    throw new ToolError(
      `no skill is named ${name}; there are ${skills.map((one) => one.name).join(', ') || 'none'}`,
      'name',
    )
  return context.daemon.ask(calls.getProjectSkill, { id: user, name }, context.signal)
}

/** Skills by name, each with a project that uses it; undefined: none does. */
export async function skillsOf(
  word: string | undefined,
  context: Pick<Context, 'daemon' | 'signal' | 'identity'>,
): Promise<{ name: string; description: string; size: number; project: string | undefined }[]> {
  const { daemon, signal, identity } = context
  if (word === undefined && identity.project === undefined)
    return (await daemon.ask(calls.listSkills, {}, signal)).map((one) => ({
      ...one,
      project: one.used_by[0]?.id,
    }))
  const { id } = await projectOf(word, context)
  return (await daemon.ask(calls.listProjectSkills, { id }, signal)).map((one) => ({
    ...one,
    project: id,
  }))
}
