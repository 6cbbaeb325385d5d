/** The rules of a declared project that hold whoever writes it. */

import { createHash } from 'node:crypto'
import { fail } from '../../errors.ts'
import { type Doc, differences, documentOf, type Edit, partKinds } from '../../model/documents.ts'
import {
  CUSTOM_TEMPLATE,
  DEFAULT_TEMPLATE,
  type ProjectDoc,
  wiringOf,
  withWiring,
} from '../../model/project.ts'
import { parseDuration } from '../../model/units.ts'

const NAME_MAX = 80
const GOAL_MAX = 200
const DESCRIPTION_MAX = 4_000
const FIELDS = new Set([
  'name',
  'template',
  'goal',
  'description',
  'params',
  'uses',
  'wakes',
  'handoffs',
  'plan',
  'stopped',
  'paused',
  'draft',
  'setup',
])

/** @returns the name, trimmed. @throws SvcError invalid */
export function checkProjectName(name: unknown): string {
  const text = typeof name === 'string' ? name.trim() : ''
  if (text === '' || text.length > NAME_MAX || hasControl(text))
    return fail('invalid', `name must be 1 to ${NAME_MAX} characters without control characters`, {
      field: 'name',
    })
  return text
}

/** @returns the goal, trimmed; undefined when it is blank. @throws SvcError invalid */
export function checkGoal(goal: unknown): string | undefined {
  if (goal === undefined) return undefined
  const text =
    typeof goal === 'string' ? goal.trim() : fail('invalid', 'goal must be text', { field: 'goal' })
  if (text.length > GOAL_MAX || hasControl(text))
    fail('invalid', `goal must be one line of at most ${GOAL_MAX} characters`, { field: 'goal' })
  return text || undefined
}

/** @returns the description, trimmed; undefined when it is blank. @throws SvcError invalid */
export function checkDescription(description: unknown): string | undefined {
  if (description === undefined) return undefined
  const text =
    typeof description === 'string'
      ? description.trim()
      : fail('invalid', 'description must be text', { field: 'description' })
  if (text.length > DESCRIPTION_MAX)
    fail('invalid', `description must have at most ${DESCRIPTION_MAX} characters`, { field: 'description' })
  return text || undefined
}

/** What people say of a project. */
export interface Said {
  name: string
  goal?: string | undefined
  description?: string | undefined
}

/** The same without what is not said. */
export function saidOf({ name, goal, description }: Said): Pick<ProjectDoc, 'name' | 'goal' | 'description'> {
  return { name, ...(goal ? { goal } : {}), ...(description ? { description } : {}) }
}

/**
 * A project document given whole, as in a change-set. What a template planned and what a pause
 * stopped are the service's own and stay as they are.
 * @throws SvcError invalid
 */
export function normaliseProject(edit: Edit, id: string, given: Doc): Doc {
  const unknown = Object.keys(given).find((field) => !FIELDS.has(field))
  if (unknown) fail('invalid', `${unknown} is not a field of a project`, { field: unknown })
  const now = edit.get('project', id)
  if (!now) fail('not_found', `no project has the id or name ${id}; projects are made by POST /api/projects`)
  const doc: Partial<ProjectDoc> = documentOf('project', given)
  if (doc.template !== undefined && doc.template !== now.template)
    fail('invalid', `template must stay ${now.template}`, { field: 'template' })
  const { plan, stopped, paused, draft, setup, template } = now
  const goal = checkGoal(doc.goal)
  const description = checkDescription(doc.description ?? now.description)
  const next: ProjectDoc = {
    name: checkProjectName(doc.name ?? now.name),
    template,
    ...(goal ? { goal } : {}),
    ...(description ? { description } : {}),
    ...(doc.params ? { params: doc.params } : {}),
    uses: usesOf(doc.uses ?? now.uses),
    ...wiredOf(doc),
    ...(plan ? { plan } : {}),
    ...(stopped ? { stopped } : {}),
    ...(paused ? { paused } : {}),
    ...(draft ? { draft } : {}),
    ...(setup ? { setup } : {}),
  }
  return { ...next }
}

/** Shape and durations of wakes and handoffs. */
function wiredOf(doc: Partial<ProjectDoc>): Pick<ProjectDoc, 'wakes' | 'handoffs'> {
  try {
    const wiring = wiringOf(doc)
    for (const { cooldown } of wiring.handoffs) if (cooldown) parseDuration(cooldown, 'handoffs')
    const { wakes, handoffs } = withWiring({ name: '', template: '', uses: {} }, wiring)
    return {
      ...(Object.keys(wakes ?? {}).length ? { wakes } : {}),
      ...(Object.keys(handoffs ?? {}).length ? { handoffs } : {}),
    } as Pick<ProjectDoc, 'wakes' | 'handoffs'>
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return fail(
      'invalid',
      'wakes must be {trigger: {agent: {enabled}}} and handoffs {agent: {verdict: {agent: {cooldown}}}}',
    )
  }
}

function usesOf(uses: ProjectDoc['uses']): ProjectDoc['uses'] {
  if (typeof uses !== 'object' || uses === null)
    fail('invalid', 'uses must be {kind: {name: {}}}', { field: 'uses' })
  const unknown = Object.keys(uses).find((kind) => !(partKinds as readonly string[]).includes(kind))
  if (unknown) fail('invalid', `uses.${unknown} is not a kind of part`, { field: 'uses' })
  return Object.fromEntries(
    Object.entries(uses).map(([kind, names]) => [
      kind,
      Object.fromEntries(
        Object.entries(names ?? {}).map(([name, use]) => [name, use?.owned ? { owned: true as const } : {}]),
      ),
    ]),
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f]/.test(text)

/** Whether a project is made by hand: the Default one or a custom one. */
export const isHandMade = ({ template }: Pick<ProjectDoc, 'template'>): boolean =>
  template === CUSTOM_TEMPLATE || template === DEFAULT_TEMPLATE

/*
 * What a hand edit of a planned object is compared with: a digest of the document as it may be shown,
 * and a keyed hash of its secrets, which a plain digest would let be guessed.
 */

/** Hex SHA-256 of a part's document as it may be shown; whether it is paused does not count. */
export function digestOf(masked: Doc): string {
  const { paused: _paused, ...spec } = masked
  return createHash('sha256').update(stable(spec)).digest('hex')
}

/**
 * The secrets of a document, by a keyed hash in hex; undefined: it has none.
 * @param masked the same document as it may be shown.
 */
export function secretsOf(doc: Doc, masked: Doc, fingerprint: (text: string) => string): string | undefined {
  const hidden = differences(masked, doc)
  return hidden.length ? fingerprint(stable(hidden.map(({ path, to }) => [path, to]))) : undefined
}

/** JSON with its keys sorted: equal documents give equal text. */
function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => `${JSON.stringify(key)}:${stable(entry)}`)
    .join(',')}}`
}
