/** What the API document promises of an answer: a status, and a body of a schema. */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { allSchemas, check } from '../../schemas/index.ts'

interface Operation {
  responses: Record<string, { content?: { 'application/json'?: { schema: { $ref?: string } } } }>
}

const { paths } = JSON.parse(
  readFileSync(new URL('../../api/http/openapi.json', import.meta.url), 'utf8'),
) as { paths: Record<string, Record<string, Operation>> }
const idOf = new Map(allSchemas().map(({ $id, title }) => [title, $id]))
const routes = Object.keys(paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

/** Answers whose schema the document leaves out, as two spellings of a route share it. */
const UNNAMED: Record<string, string> = {
  'get /api/projects': 'projects-result.json',
  'get /api/projects/templates': 'templates-result.json',
}
/** Lists are bare arrays, each entry of a schema. */
const LISTS: Record<string, string> = {
  'get /api/sources': 'source.json',
  'get /api/triggers': 'trigger.json',
  'get /api/skills': 'skill-summary.json',
  'get /api/projects/{id}/skills': 'project-skill.json',
}

export function expectPromised(
  method: string,
  url: string,
  answer: { status: number; headers: Headers; text: string; body: unknown },
): void {
  const said = `${method} ${url}: ${answer.status} ${answer.text.slice(0, 300)}`
  if (answer.status >= 400) {
    expect(answer.headers.get('content-type'), said).toBe('application/json; charset=utf-8')
    expect(check('problem.json', answer.body), said).toBeNull()
    expect((answer.body as { detail: string }).detail, said).not.toMatch(/^(["']).*\1$|\n|^$/)
    expect(answer.status, said).not.toBe(500)
    return
  }
  const path = pathOf(url.split('?')[0]!)
  const route = `${method.toLowerCase()} ${path}`
  const response = paths[path ?? '']?.[method.toLowerCase()]?.responses[String(answer.status)]
  expect(response, `${said} is not in the API document`).toBeDefined()
  const title = response!.content?.['application/json']?.schema.$ref?.split('/').at(-1)
  const schema = title === undefined ? UNNAMED[route] : idOf.get(title)
  if (schema !== undefined) expect(check(schema, answer.body), said).toBeNull()
  for (const entry of LISTS[route] === undefined ? [] : (answer.body as unknown[]))
    expect(check(LISTS[route]!, entry), said).toBeNull()
}

/** A fixed path wins over one with a parameter in the same place. */
function pathOf(url: string): string | undefined {
  const fitting = routes.filter(({ pattern }) => pattern.test(url)).map(({ path }) => path)
  return fitting.sort((a, b) => a.split('{').length - b.split('{').length)[0]
}
