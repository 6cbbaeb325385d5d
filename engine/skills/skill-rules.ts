/** The rules of a skill (SPEC.md, Skill; Limits), each with a plain sentence that names it. */
import type { SkillSpec } from '../../schemas/types.ts'
import { fail } from '../errors.ts'

export const SKILL_NAME_MAX = 64
export const DESCRIPTION_MAX = 1_024
export const BODY_MAX_BYTES = 65_536
/** What a name must be, to follow "name must be". */
export const NAME_RULE = `1 to ${SKILL_NAME_MAX} characters of lowercase letters, digits and dashes`
/** What a description must be, to follow "description must be". */
export const DESCRIPTION_RULE = `one paragraph of 1 to ${DESCRIPTION_MAX} characters`

/** @throws SvcError invalid */
export function checkSkillName(name: unknown): string {
  if (typeof name !== 'string' || name === '') return fail('invalid', 'a name is required', { field: 'name' })
  if (name.length > SKILL_NAME_MAX || !/^[a-z0-9-]+$/.test(name))
    fail('invalid', `name must be ${NAME_RULE}`, { field: 'name' })
  return name
}

/** @returns description and body, trimmed. @throws SvcError invalid */
export function normaliseSkill({ description, body }: { description?: unknown; body?: unknown }): SkillSpec {
  return { description: checkDescription(description), body: checkBody(body) }
}

function checkDescription(given: unknown): string {
  const field = 'description'
  if (given !== undefined && typeof given !== 'string') fail('invalid', 'description must be text', { field })
  const description = (given as string | undefined)?.replaceAll('\r\n', '\n').trim()
  if (!description) return fail('invalid', 'a description is required', { field })
  if (/\n[^\S\n]*\n/.test(description))
    fail('invalid', 'description must be one paragraph: it has a blank line', { field })
  const length = [...description].length
  if (length > DESCRIPTION_MAX)
    fail('invalid', `description has ${length} characters; at most ${DESCRIPTION_MAX} are allowed`, { field })
  return description
}

function checkBody(given: unknown): string {
  const field = 'body'
  if (given !== undefined && typeof given !== 'string') fail('invalid', 'body must be text', { field })
  const body = ((given as string | undefined) ?? '').replaceAll('\r\n', '\n').replace(/^\n+|\s+$/g, '')
  if (body.trim() === '')
    fail('invalid', 'a body is required: the Markdown below the front matter', { field })
  const bytes = Buffer.byteLength(body)
  if (bytes > BODY_MAX_BYTES)
    fail('invalid', `body has ${bytes} bytes; at most ${BODY_MAX_BYTES} are allowed`, { field })
  return body
}
