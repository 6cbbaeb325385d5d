/** Completions of arguments: labels and values of entities, projects, skills, findings, incidents, tools. */
import type { EntitiesResult, LabelFacet } from '../../schemas/types.ts'
import * as calls from '../client/calls.ts'
import { listProjects } from './project.ts'
import type { Context } from './tool.ts'
import { tools } from './tools/index.ts'
import { skillsOf } from './tools/skills.ts'

/** As many as the protocol lets one answer hold. */
const MAX = 100

export interface Asked {
  /** Prompt or resource template it is for. */
  of: string
  argument: string
  /** What is typed so far. */
  value: string
  /** Arguments that are filled in already. */
  given: Record<string, string>
}

/** @returns none for what is not ours to complete. @throws DaemonError */
export async function complete(
  asked: Asked,
  context: Pick<Context, 'daemon' | 'signal' | 'identity'>,
): Promise<{ values: string[]; total?: number; hasMore: boolean }> {
  const all = (await candidates(asked, context)).filter((one) =>
    one.toLowerCase().startsWith(asked.value.toLowerCase()),
  )
  const hasMore = all.length > MAX
  // How many more is not known of all: one more than is shown is asked for.
  return { values: all.slice(0, MAX), ...(hasMore ? {} : { total: all.length }), hasMore }
}

async function candidates(
  { of, argument, value, given }: Asked,
  context: Pick<Context, 'daemon' | 'signal' | 'identity'>,
): Promise<string[]> {
  const { daemon, signal, identity } = context
  if (argument === 'project') return (await listProjects(context)).map(({ name }) => name)
  if (argument === 'name' && of.startsWith('svc://skill/'))
    return (await skillsOf(undefined, context)).map(({ name }) => name)
  if (argument === 'name' && of.startsWith('svc://tool/')) return tools.map(({ name }) => name)
  if (argument === 'incident') {
    const { incidents } = await daemon.ask(calls.listIncidents, { limit: MAX }, signal)
    return incidents.map(({ id }) => id)
  }
  if (argument === 'id' && given.project) {
    const { findings } = await daemon.ask(calls.listFindings, { id: given.project, limit: MAX }, signal)
    return findings.map((one) => one.run_id)
  }
  // A project key is told of no entity but through what it reads.
  if (identity.project !== undefined) return []
  if (argument === 'label') {
    const { labels } = (await daemon.ask(calls.listEntities, { limit: 1 }, signal)) as EntitiesResult
    return labels.map(({ label }) => label)
  }
  if (argument !== 'value' || !given.label) return []
  const asked = { label: given.label, prefix: value || undefined, limit: MAX + 1 }
  const facet = (await daemon.ask(calls.listEntities, asked, signal)) as LabelFacet
  return facet.values.map((one) => one.value)
}
