/**
 * SKILL.md: YAML front matter with name and description between two lines of three dashes, then the
 * body as Markdown; other front matter keys are ignored (SPEC.md, Skill).
 */
import { createRequire } from 'node:module'
import type matter from 'gray-matter'
import { fail } from '../errors.ts'
import { BODY_MAX_BYTES, DESCRIPTION_RULE, NAME_RULE } from './skill-rules.ts'

/** Loaded when a skill is first read or written: three threads would each load its forty modules at their start. */
const load = (): typeof matter => createRequire(import.meta.url)('gray-matter')

/** Front matter and body together; a larger file cannot hold a skill that keeps the rules. */
const FILE_MAX_BYTES = BODY_MAX_BYTES + 16_384

/** @returns what the file says, not yet checked. @throws SvcError invalid, naming the rule. */
export function readSkillFile(bytes: Uint8Array): { name: unknown; description: unknown; body: string } {
  if (bytes.byteLength > FILE_MAX_BYTES)
    fail('invalid', `the file has ${bytes.byteLength} bytes; the body may have at most ${BODY_MAX_BYTES}`)
  const text = decode(bytes).replaceAll('\r\n', '\n')
  const lines = text.split('\n')
  if (lines[0]?.trimEnd() !== '---')
    fail(
      'invalid',
      'the front matter is missing: the file must begin with a line of three dashes, then name: and description:, then a second line of three dashes',
    )
  if (!lines.slice(1).some((line) => line.trimEnd() === '---'))
    fail('invalid', 'the front matter is not closed: it must end with a second line of three dashes')
  const { data, content } = parse(text)
  for (const [key, rule] of [
    ['name', NAME_RULE],
    ['description', DESCRIPTION_RULE],
  ] as const)
    if (data[key] === undefined || data[key] === null || data[key] === '')
      fail('invalid', `the front matter has no ${key}; ${key} must be ${rule}`, { field: key })
  return { name: data.name, description: data.description, body: content }
}

/** The file of a skill; reading it gives the same skill. */
export function writeSkillFile(skill: { name: string; description: string; body: string }): string {
  const { name, description, body } = skill
  return load().stringify(`\n${body}\n`, { name, description })
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return fail('invalid', 'the file is not UTF-8 text')
  }
}

function parse(text: string): { data: Record<string, unknown>; content: string } {
  const { data, content } = parseYaml(text)
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    return fail('invalid', 'the front matter must be fields, such as name: and description:')
  return { data: data as Record<string, unknown>, content }
}

function parseYaml(text: string): { data: unknown; content: string } {
  try {
    // Its own options: without them the library answers a repeated text from a cache.
    return load()(text, {})
  } catch (error) {
    const line = (error as { mark?: { line?: number } }).mark?.line
    return fail(
      'invalid',
      `the front matter is not valid YAML${line === undefined ? '' : `, line ${line + 2}`}`,
    )
  }
}
