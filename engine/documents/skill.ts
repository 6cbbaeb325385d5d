/** The rules of a skill (SPEC.md, Skill; Limits), each with a plain sentence that names it. */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type matter from 'gray-matter'
import type yaml from 'yaml'
import type { SkillSpec } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import type { Doc, Stored, Stroke } from '../model/documents.ts'
import { type PartKindParts, type PartRow, refuseInherited, SpecPartKind } from './part-kind.ts'

const SKILL_NAME_MAX = 64
const DESCRIPTION_MAX = 1_024
const BODY_MAX_BYTES = 65_536
/** What a name must be, to follow "name must be". */
const NAME_RULE = `1 to ${SKILL_NAME_MAX} characters of lowercase letters, digits and dashes`
/** What a description must be, to follow "description must be". */
const DESCRIPTION_RULE = `one paragraph of 1 to ${DESCRIPTION_MAX} characters`

/** @throws SvcError invalid */
export function checkSkillName(name: unknown): string {
  if (typeof name !== 'string' || name === '') return fail('invalid', 'a name is required', { field: 'name' })
  if (name.length > SKILL_NAME_MAX || !/^[a-z0-9-]+$/.test(name))
    fail('invalid', `name must be ${NAME_RULE}`, { field: 'name' })
  refuseInherited(name)
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
  if (body.trim() === '') fail('invalid', 'a body is required: what is to be done, as Markdown', { field })
  const bytes = Buffer.byteLength(body)
  if (bytes > BODY_MAX_BYTES)
    fail('invalid', `body has ${bytes} bytes; at most ${BODY_MAX_BYTES} are allowed`, { field })
  return body
}

/*
 * How skills are stored: as other parts are, with a machine that counts the projects that use one
 * (SPEC.md, Skill lifecycle).
 */

export class SkillKind extends SpecPartKind {
  constructor(parts: Pick<PartKindParts, 'db' | 'secrets'>) {
    super({
      ...parts,
      kind: 'skill',
      table: 'skills',
      secretNames: { secrets: [], addresses: [] },
      pausable: false,
    })
  }

  override update(stored: Stored, doc: Doc, stroke: Stroke): string {
    this.move(this.queries.byName(stored.key)!, 'edit', stroke)
    return super.update(stored, doc, stroke)
  }

  /** One more project uses it, or one less. @throws SvcError not_found */
  moveUsers(name: string, event: 'use' | 'remove', stroke: Stroke): void {
    const row = this.queries.byName(name) ?? fail('not_found', `no skill is named ${name}`)
    this.move(row, event, stroke)
  }

  /** Every project leaves it: the last one takes it away. */
  protected override retire(row: PartRow, stroke: Stroke): void {
    let state = row.state
    while (state !== 'deleted') state = this.move(row, 'remove', stroke)
  }
}

/*
 * SKILL.md: YAML front matter with name and description between two lines of three dashes, then the
 * body as Markdown; other front matter keys are ignored (SPEC.md, Skill).
 */

/** Loaded when a skill is first read or written: three threads would each load its forty modules at their start. */
const load = (): typeof matter => createRequire(import.meta.url)('gray-matter')
const loadYaml = (): typeof yaml => createRequire(import.meta.url)('yaml')

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
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === '---')
  if (end < 0)
    fail('invalid', 'the front matter is not closed: it must end with a second line of three dashes')
  // What stands after the dashes is none of the body, as the library would have it.
  const { data, content, matter } = parse(lines.with(0, '---').with(end, '---').join('\n'))
  for (const [key, rule] of [
    ['name', NAME_RULE],
    ['description', DESCRIPTION_RULE],
  ] as const)
    if (data[key] === undefined || data[key] === null || data[key] === '')
      fail('invalid', `the front matter has no ${key}; ${key} must be ${rule}`, { field: key })
  if (content.trim() === '')
    fail('invalid', 'a body is required: the Markdown below the front matter', { field: 'body' })
  const said = (key: string) => writtenText(data[key], key, matter)
  return { name: said('name'), description: said('description'), body: content }
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

/** A name of digits is text, as it is written: YAML would have 007 as the number 7. */
function writtenText(value: unknown, key: string, front: string): unknown {
  if (typeof value === 'string' || (typeof value === 'object' && !(value instanceof Date))) return value
  const { isScalar, parseDocument } = loadYaml()
  const node = parseDocument(front, { uniqueKeys: false }).get(key, true)
  return isScalar(node) && node.source !== undefined ? node.source : String(value)
}

interface Parsed<T> {
  data: T
  content: string
  /** The front matter as it is written, from the end of the first line of dashes. */
  matter: string
}

function parse(text: string): Parsed<Record<string, unknown>> {
  const { data, content, matter } = parseYaml(text)
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    return fail('invalid', 'the front matter must be fields, such as name: and description:')
  return { data: data as Record<string, unknown>, content, matter }
}

function parseYaml(text: string): Parsed<unknown> {
  try {
    // Its own options: without them the library answers a repeated text from a cache.
    return load()(text, {})
  } catch (error) {
    const own = withoutOthers(text)
    if (own !== text) return parseYaml(own)
    const line = (error as { mark?: { line?: number } }).mark?.line
    // Lines are counted from 0 and from the first line of dashes. What is not closed is noticed past the last one.
    const last = text.split('\n').findIndex((one, i) => i > 0 && one.trimEnd() === '---')
    return fail(
      'invalid',
      `the front matter is not valid YAML${line === undefined ? '' : `, line ${Math.min(line + 1, last)}`}${hintOf(text)}`,
    )
  }
}

/**
 * Other keys are ignored, also where their values are no YAML, such as `argument-hint: [file] [format]`, which other programs
 * write and read. A field is a line that begins with its key, and those until the next.
 * @returns the file with empty lines in their place, so that lines are counted as they are written
 */
function withoutOthers(text: string): string {
  const lines = text.split('\n')
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === '---')
  let isOwn = true
  return lines
    .map((line, i) => {
      if (i === 0 || i >= end) return line
      const [, key] = /^(["']?[\w.-]+["']?)[ \t]*:(?=\s|$)/.exec(line) ?? []
      if (key !== undefined) isOwn = OWN_KEYS.test(key)
      return isOwn ? line : ''
    })
    .join('\n')
}

const OWN_KEYS = /^(["']?)(name|description)\1$/

/** A text with a colon and a space is the usual fault: YAML takes it for another field. */
function hintOf(text: string): string {
  const [, key] = /^(name|description):[ \t]+(?!["'|>])[^\n]*:[ \t]/m.exec(text) ?? []
  return key === undefined ? '' : `; put the ${key} in quotes, as it has a colon followed by a space`
}

/* The skill that is shipped with svc: catalog/skills/svc/SKILL.md. */

/** Path of the file. The build copies catalog/ beside the bundle; from source it is at the root. */
export function bundledSkillFile(): string {
  const beside = fileURLToPath(new URL('./catalog/skills/svc/SKILL.md', import.meta.url))
  return existsSync(beside)
    ? beside
    : fileURLToPath(new URL('../../catalog/skills/svc/SKILL.md', import.meta.url))
}
