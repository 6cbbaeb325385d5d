/** The tools that begin and end work on a project that is held (SPEC.md, Project lifecycle: crew). */
import type {
  Project,
  ToolFinishProject,
  ToolFinishProjectResult,
  ToolHoldProject,
  ToolHoldProjectResult,
  ToolReleaseProject,
  ToolReleaseProjectResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { projectOf } from '../project.ts'
import { adds, type Context, defineTool, ToolError } from '../tool.ts'

export const holdProject = defineTool<ToolHoldProject, ToolHoldProjectResult>({
  name: 'hold_project',
  title: 'Hold a project',
  description:
    'Takes a project for your crew, so that others see that it is being worked on. finish_project or release_project hands it back.',
  scope: 'admin',
  ofProject: false,
  hints: adds(),
  async run({ project: word }, context) {
    const { id } = await projectOf(word, context)
    const { name, held_by } = await context.daemon.ask(calls.holdProject, { id }, context.signal)
    return { text: `${name} is yours until you hand it back`, content: { project: id, name, held_by } }
  },
})

export const releaseProject = defineTool<ToolReleaseProject, ToolReleaseProjectResult>({
  name: 'release_project',
  title: 'Release a project',
  description: 'Hands back a project that is held, where the work is not done; else finish_project.',
  scope: 'admin',
  ofProject: false,
  hints: adds({ idempotentHint: true }),
  async run({ project: word }, context) {
    const { id } = await projectOf(word, context)
    const { name, held_by } = await release(id, context)
    return { text: `${name} is released`, content: { project: id, name, held_by } }
  },
})

export const finishProject = defineTool<ToolFinishProject, ToolFinishProjectResult>({
  name: 'finish_project',
  title: 'Finish work on a project',
  description:
    'Ends work on a project: releases it where it is held, and records your words as a finding for the next.',
  scope: 'admin',
  ofProject: false,
  hints: adds(),
  async run({ project: word, words }, context) {
    const { id, name } = await projectOf(word, context)
    // It is for scope admin, which sees the whole of a project.
    const { held_by } = (await context.daemon.ask(calls.getProject, { id }, context.signal)) as Project
    if (held_by === null && words === undefined)
      throw new ToolError(`nobody holds ${name}; give words to record what was done`, 'words')
    // The words first: a project is not handed back without them.
    const finding = words === undefined ? null : await record(id, name, words, context)
    if (held_by !== null) await release(id, context)
    return {
      text: `${name} is finished${held_by === null ? '' : ' and released'}${finding === null ? '' : `; the words are finding ${finding}`}`,
      content: { project: id, name, released: held_by !== null, finding_id: finding, finding },
    }
  },
})

const release = (id: string, { daemon, signal }: Context): Promise<Project> =>
  daemon.ask(calls.releaseProject, { id }, signal)

async function record(id: string, name: string, words: string, context: Context): Promise<string> {
  const { run_id } = await context.daemon.ask(
    calls.recordFinding,
    {
      id,
      body: {
        entity: name,
        label: 'project',
        finding: words,
        headline: 'Work on the project is finished',
        verdict: 'finished',
        ...(context.identity.id === 'open' ? { agent: context.client } : {}),
      },
    },
    context.signal,
  )
  return run_id
}
