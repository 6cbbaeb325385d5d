/**
 * The list of resources, a page at a time: incidents as one and projects, then skills, then the newest findings of each
 * project. Entities are not listed, for there is no end of them; their template and completions are.
 */
import * as calls from '../../client/calls.ts'
import { type ListedProject, listProjects } from '../project.ts'
import { type Context, ToolError } from '../tool.ts'
import { skillsOf } from '../tools/skills.ts'
import { type Address, uriOf } from './uri.ts'

const PAGE = 100
const FINDINGS_EACH = 20

export interface ListedResource {
  uri: string
  name: string
  title: string
  description?: string
  mimeType: string
}

/** @throws ToolError for a cursor that is none of ours; DaemonError */
export async function listResources(
  cursor: string | undefined,
  context: Pick<Context, 'daemon' | 'signal' | 'identity'>,
): Promise<{ resources: ListedResource[]; nextCursor?: string }> {
  let { section, offset } = placeOf(cursor)
  const projects = await listProjects(context)
  const resources: ListedResource[] = []
  for (; section < 2 + projects.length && resources.length < PAGE; section++, offset = 0) {
    const all = await sectionOf(section, projects, context)
    const taken = all.slice(offset, offset + PAGE - resources.length)
    resources.push(...taken)
    if (offset + taken.length < all.length)
      return { resources, nextCursor: cursorOf(section, offset + taken.length) }
  }
  return section < 2 + projects.length ? { resources, nextCursor: cursorOf(section, 0) } : { resources }
}

async function sectionOf(
  section: number,
  projects: readonly ListedProject[],
  context: Pick<Context, 'daemon' | 'signal' | 'identity'>,
): Promise<ListedResource[]> {
  if (section === 0)
    return [
      listed({ kind: 'incidents' }, 'incidents', 'What is wrong now, worst first.'),
      ...projects.flatMap((project) => ofProject(project, context.identity.project !== undefined)),
    ]
  if (section === 1) {
    const skills = await skillsOf(undefined, context)
    return skills.map(({ name, description }) =>
      listed({ kind: 'skill', name }, `skill ${name}`, description),
    )
  }
  const { id, name } = projects[section - 2]!
  const { findings } = await context.daemon.ask(
    calls.listFindings,
    { id, limit: FINDINGS_EACH },
    context.signal,
  )
  return findings.map((one) =>
    listed(
      { kind: 'finding', project: id, id: one.run_id },
      one.headline ?? `finding on ${one.entity}`,
      `${name}, ${one.at}, by ${one.agent}`,
    ),
  )
}

function ofProject({ id, name, goal }: ListedProject, isOwnKey: boolean): ListedResource[] {
  const all = [
    listed({ kind: 'project', project: id }, name, goal),
    listed({ kind: 'findings', project: id }, `findings of ${name}`),
    listed({ kind: 'firings', project: id }, `firings of ${name}`),
  ]
  return isOwnKey ? all.slice(0, 2) : all
}

const TEXT = new Set(['entity', 'firings'])

const listed = (address: Address, title: string, description = ''): ListedResource => ({
  uri: uriOf(address),
  name: uriOf(address).slice('svc://'.length),
  title,
  ...(description ? { description } : {}),
  mimeType: TEXT.has(address.kind) ? 'text/plain' : 'text/markdown',
})

const cursorOf = (section: number, offset: number): string =>
  Buffer.from(`in:${section}:${offset}`).toString('base64url')

function placeOf(cursor: string | undefined): { section: number; offset: number } {
  if (cursor === undefined) return { section: 0, offset: 0 }
  const match = /^in:(\d{1,6}):(\d{1,6})$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (!match) throw new ToolError('cursor must be nextCursor of an earlier list', 'cursor')
  return { section: Number(match[1]), offset: Number(match[2]) }
}
