/** The tools of projects: which there are, what they found, joining and leaving them. */
import { entityWord } from '../../../schemas/entity-word.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type {
  ToolJoinProject,
  ToolJoinProjectResult,
  ToolLeaveProject,
  ToolLeaveProjectResult,
  ToolListProjects,
  ToolListProjectsResult,
  ToolProjectTimeline,
  ToolProjectTimelineResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { grownOf, grownText } from '../grown.ts'
import { more, PAGE_TOKENS, pageOf, tokensOf } from '../paging.ts'
import { listProjects as fetchProjects, type ListedProject, projectOf } from '../project.ts'
import { adds, defineTool, READS, ToolError } from '../tool.ts'
import { markText } from './findings.ts'

export const listProjects = defineTool<ToolListProjects, ToolListProjectsResult>({
  name: 'list_projects',
  title: 'List projects',
  description: 'Projects with their goal, state and parts, and who holds each.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  async run({ cursor }, context) {
    const page = pageOf((await fetchProjects(context)).map(shown), cursor)
    const lines = page.entries.map(
      (one) =>
        `${one.name} (${one.id}, ${one.status}${one.held_by ? `, held by a ${one.held_by}` : ''}): ${one.goal || 'no goal'}; sources ${one.sources.join(', ') || 'none'}; triggers ${one.triggers.join(', ') || 'none'};${one.agents.length ? ` agents ${one.agents.join(', ')};` : ''} skills ${one.skills.join(', ') || 'none'}`,
    )
    return {
      text: (lines.join('\n') || 'no projects') + more(page.next_cursor),
      content: { projects: page.entries, next_cursor: page.next_cursor },
    }
  },
})

function shown(project: ListedProject): ToolListProjectsResult['projects'][number] {
  const named = (kind: string) =>
    (project.objects ?? []).filter((one) => one.kind === kind && !one.missing).map(({ name }) => name)
  const { id, name, goal, status, template } = project
  return {
    id,
    name,
    goal,
    status,
    template,
    held_by: project.held_by ?? null,
    sources: project.sources ?? named('source'),
    triggers: project.triggers ?? named('trigger'),
    agents: named('agent'),
    skills: project.skills ?? named('skill'),
  }
}

const LIMIT = 20

export const projectTimeline = defineTool<ToolProjectTimeline, ToolProjectTimelineResult>({
  name: 'project_timeline',
  title: 'What a project found',
  description:
    'What agents of a project found, newest first, one result per chain of runs. get_finding has the whole note.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  async run({ project: word, show, limit = LIMIT, cursor }, context) {
    if (cursor !== undefined && !PLACE.test(cursor))
      throw new ToolError('cursor must be next_cursor of an earlier answer of this tool', 'cursor')
    const { id } = await projectOf(word, context)
    const { results, next_before, today } = await context.daemon.ask(
      calls.listResults,
      { id, show, before: cursor, limit },
      context.signal,
    )
    const all = results.map((one) => ({
      finding_id: one.id,
      id: one.id,
      at: one.at,
      entity: one.entity,
      label: one.label,
      kind: one.kind,
      headline: one.headline,
      summary: one.summary,
      next_step: one.next_step,
      verdict: one.verdict,
      agents: one.chain,
      handled_by: one.handled?.by ?? null,
      mark: one.mark?.mark ?? null,
      external: one.external,
      practice: one.practice,
      incident: grownOf(one.incident),
    }))
    const { entries, next } = fitted(all, next_before)
    const lines = entries.map(
      (one) =>
        `${one.at} ${entityWord(one.label, one.entity)}: ${one.headline}${one.verdict ? ` [${one.verdict}]` : ''}${one.next_step ? `; next: ${one.next_step}` : ''}${one.handled_by ? `; handled by ${one.handled_by}` : ''}${markText(one.mark)} (${one.id}, ${one.agents.join(' → ')})${grownText(one.incident)}`,
    )
    return {
      text: `today: ${today.looked_at} looked at, ${countWords(today.found, 'finding')}, of ${countWords(today.incidents, 'incident')}\n${lines.join('\n') || 'nothing found yet'}${more(next)}`,
      content: { project: id, results: entries, today, next_cursor: next },
    }
  },
})

/** A cursor of the daemon: a time and an id. */
const PLACE = /^\d{1,16}\..{1,80}$/

/** As many as the budget holds; the daemon's cursor is the time and id of the last one shown. */
function fitted<T extends { at: string; id: string }>(all: readonly T[], after: string | null) {
  const entries: T[] = []
  let tokens = 0
  for (const one of all) {
    tokens += tokensOf(JSON.stringify(one))
    if (tokens > PAGE_TOKENS && entries.length) break
    entries.push(one)
  }
  const last = entries.at(-1)
  return { entries, next: last && entries.length < all.length ? `${Date.parse(last.at)}.${last.id}` : after }
}

export const joinProject = defineTool<ToolJoinProject, ToolJoinProjectResult>({
  name: 'join_project',
  title: 'Join a project',
  description:
    'Posts every firing of a project, with the timeline of its entity, to an address of yours, signed (Standard Webhooks). Without scope admin only public addresses.',
  scope: 'read',
  ofProject: true,
  hints: adds({ idempotentHint: true, openWorldHint: true }),
  async run({ project: word, url, name }, context) {
    const { id } = await projectOf(word, context)
    const made = await context.daemon.ask(calls.subscribeProject, { id, body: { url, name } }, context.signal)
    const { subscription_id, secret, existing = false } = made
    return {
      text: existing
        ? `${url} had joined already (${subscription_id})`
        : `${url} gets every firing (${subscription_id})${secret ? `; the key of its signature, shown once: ${secret}` : ''}`,
      content: { subscription_id, project: id, existing, ...(secret ? { secret } : {}) },
    }
  },
})

export const leaveProject = defineTool<ToolLeaveProject, ToolLeaveProjectResult>({
  name: 'leave_project',
  title: 'Leave a project',
  description:
    'Ends what join_project or wait_for_firing began: no more firings for it, and those that wait are withdrawn.',
  scope: 'read',
  ofProject: true,
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async run({ subscription_id }, { daemon, signal }) {
    await daemon.ask(calls.unsubscribe, { body: { subscription_id } }, signal)
    return {
      text: `${subscription_id} is unsubscribed`,
      content: { subscription_id, removed: true },
    }
  },
})
