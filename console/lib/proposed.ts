/** Cards of Ask: what a person typed, where its object is, and what an editor begins with. */
import type { AskProposal, TriggerSpec } from '../../schemas/types.ts'

export const CARD_WORDS: Record<AskProposal['kind'], string> = {
  labels: 'Labels of source',
  trigger: 'Trigger',
  source: 'Source',
  project: 'Project',
  agent: 'Agent',
}

/** What a person typed goes where the kind keeps such fields. */
export function withTyped(
  { kind, body }: Pick<AskProposal, 'kind' | 'body'>,
  typed: Record<string, string>,
): Record<string, unknown> {
  const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value.trim() !== ''))
  if (Object.keys(given).length === 0) return body
  const inside = kind === 'source' ? 'config' : kind === 'project' ? 'params' : null
  if (inside === null) return { ...body, ...given }
  return { ...body, [inside]: { ...(body[inside] as Record<string, unknown> | undefined), ...given } }
}

const name = encodeURIComponent

/** Where the object is once it is made. @param said what `applyCard` gave */
export function madePath({ kind, name: of }: Pick<AskProposal, 'kind' | 'name'>, said: string): string {
  if (kind === 'trigger') return `/triggers/${name(of)}`
  if (kind === 'agent') return `/agents/${name(of)}`
  if (kind === 'project') return `/projects/${name(said)}`
  return `/sources/${name(of)}`
}

/** What a form is to begin with, as it travels to its page. */
export interface Proposed {
  proposed: Record<string, unknown>
}

/** The project a body joins, as a field of an address that begins with `before`. */
function projectIn(body: AskProposal['body']): (before: string) => string {
  const [operation] = (body.operations ?? []) as { project?: string }[]
  const project = body.project ?? operation?.project
  return (before) => (typeof project === 'string' && project ? `${before}project=${name(project)}` : '')
}

/** The editor that takes the proposal over; null: there is none for it. */
export function editorOf({
  kind,
  name: of,
  body,
  plan,
}: AskProposal): { to: string; state: Proposed } | null {
  const isNew = plan === null || plan.changes.some(({ action, name: is }) => action === 'create' && is === of)
  if (!isNew) return null
  const inProject = projectIn(body)
  if (kind === 'agent') return { to: `/agents/new${inProject('?')}`, state: { proposed: body } }
  if (kind === 'source')
    return {
      to: `/sources/new?connector=${name(String(body.connector))}${inProject('&')}`,
      state: { proposed: body },
    }
  if (kind !== 'trigger') return null
  const [operation] = body.operations as { spec: TriggerSpec }[]
  return { to: `/triggers/new${inProject('?')}`, state: { proposed: { ...operation?.spec, name: of } } }
}

export const proposedIn = (state: unknown): Record<string, unknown> | null =>
  (state as Partial<Proposed> | null)?.proposed ?? null
