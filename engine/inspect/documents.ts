/** Reference documents and skills, whole, in pages; without an id those there are. */

import type { Row } from '../calls.ts'
import { cautiousTokens } from '../context/index.ts'
import { fail } from '../errors.ts'
import { redact } from '../redact.ts'
import type { ReadContext } from '../timeline/context.ts'
import { readDocument, readDocuments } from '../timeline/documents.ts'
import { parseEventId } from '../timeline/present.ts'
import { projectScope } from '../timeline/project-scope.ts'
import { linesOf, pageOf, placeOf } from './pages.ts'
import type { Around, Looked } from './types.ts'

/** @throws SvcError invalid; not_found, also for one that may not be read */
export function document(around: Around): Looked {
  const { id } = around.question
  if (id === undefined) return documentList(around)
  const number = parseEventId(id)
  return number === null ? skill(around, id) : reference(around, id, number)
}

function reference(around: Around, id: string, number: number): Looked {
  const { ctx, projects, now } = around
  const row = readableDocument(ctx, projects, number, now)
  if (!row || Date.parse(row.ingested_at) > around.asOf)
    fail('not_found', `nothing that may be read here has the id ${id}; it may have been purged`, {
      field: 'id',
    })
  const { name, content } = contentOf(row)
  return pageText(around, `Document ${id}, ${name} of ${row.source}`, content, [[id, 1]])
}

/** A document by its number, whatever its version, of a source that the projects read; null: there is none. */
export function readableDocument(
  ctx: ReadContext,
  projects: readonly string[],
  number: number,
  now: number,
): Row | null {
  const row = readDocument(ctx.db, ctx.names, number, now)
  const source = row && [...ctx.names.all()].find(({ name, deleted }) => name === row.source && !deleted)
  if (!row || !source || ctx.names.masked().includes(source.id)) return null
  if (projects.length && !projectScope(ctx.db, ctx.names, projects).members.includes(source.id)) return null
  return row
}

/** As its connector keeps it (connectors/reference.ts). */
function contentOf({ raw = '{}', text }: Row): { name: string; content: string } {
  const { name = '', content = text } = JSON.parse(raw) as { name?: string; content?: string }
  return { name, content }
}

/** A skill that the projects use: who reads without a project has none (SPEC.md, Skill). */
function skill(around: Around, name: string): Looked {
  const { ctx, projects } = around
  const body = ctx.db
    .prepare<[string, string], string>(
      `SELECT json_extract(s.spec, '$.body') FROM skills s
       JOIN project_uses u ON u.kind = 'skill' AND u.name = s.name
       WHERE s.name = ? AND s.state <> 'deleted' AND u.project IN (SELECT value FROM json_each(?)) LIMIT 1`,
    )
    .pluck()
    .get(name, JSON.stringify(projects))
  if (body === undefined)
    fail(
      'not_found',
      `no document or skill that may be read here is ${name}; leave out id to see documents`,
      {
        field: 'id',
      },
    )
  return pageText(around, `Skill ${name}`, body, [])
}

function pageText(around: Around, what: string, whole: string, shown: Looked['shown']): Looked {
  const text = around.isRedacted ? redact(whole) : whole
  const from = placeOf(around.question)
  const heading = `${what}: ${text.length} characters${from ? `, from character ${from}` : ''}`
  const { page, next } = pageOf(text, from, Math.max(50, around.budget - cautiousTokens(`${heading}\n`)))
  return { heading, text: page, shown, next }
}

function documentList(around: Around): Looked {
  const { ctx, projects, question, asOf, budget } = around
  const { selector, sources } = question
  const rows = readDocuments(
    ctx.db,
    ctx.names,
    {
      ...(selector && Object.keys(selector).length ? { selector: selector as Record<string, string> } : {}),
      ...(sources?.length ? { sources } : {}),
      ...(projects.length ? { project: projects } : {}),
      include_payload: true,
    },
    asOf,
  )
  const lines = rows.map((row) => {
    const { name, content } = contentOf(row)
    const labels = Object.entries(row.labels).map(([label, value]) => `${label}=${value}`)
    return redact(`${row.id} ${row.source} ${name}, ${content.length} characters {${labels.join(' ')}}`)
  })
  const heading = `${rows.length} reference documents; give the id of one to read it`
  const page = linesOf(lines, placeOf(question), budget - cautiousTokens(heading))
  const at = placeOf(question)
  return {
    heading,
    text: page.lines.join('\n') || 'none',
    shown: rows.slice(at, at + page.lines.length).map(({ id }): [string, number] => [id, 1]),
    next: page.next,
  }
}
