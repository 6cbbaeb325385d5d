/** 18 A1: one table of operations. Every route is one, or is made by hand for a reason; each says all of itself. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { routesByHand } from '../../api/http/scopes.ts'
import { operations, routeOf } from '../../engine/operations/index.ts'
import { projectFiles, textOf } from './project-files.ts'

/** Routes that are no operations, by what they are. */
const BY_HAND: Record<string, readonly string[]> = {
  'events as bytes, taken while they come': [
    ...['POST /ingest/:key', 'GET /ingest/:key', 'POST /remember'],
    ...['POST /v1/logs', 'POST /v1/traces', 'POST /v1/metrics'],
  ],
  'streams that the door writes': ['GET /api/tail', 'POST /api/agent/chat', 'GET /api/agent/chat/:turn'],
  'credentials and sessions, in the memory of the door': [
    ...['POST /api/session', 'DELETE /api/session', 'GET /api/whoami'],
    ...['POST /api/logins', 'POST /api/logins/exchange', 'POST /api/telemetry/keys'],
    ...['POST /api/oauth/requests', 'POST /api/oauth/decisions'],
    ...['POST /oauth/register', 'POST /oauth/token', 'POST /oauth/revoke'],
  ],
  'what only the process that serves knows': [
    ...['GET /health', 'GET /metrics', 'GET /api/capabilities', 'GET /api/mcp/tools'],
    ...['GET /api/connect', 'POST /api/connect/clients', 'GET /api/connect/skill'],
    ...['GET /openapi.json', 'GET /docs/json', 'GET /docs/yaml'],
    'GET /.well-known/oauth-authorization-server',
    ...['telemetry/mcp', 'mcp', 'sse'].map((path) => `GET /.well-known/oauth-protected-resource/${path}`),
  ],
  'a protocol of its own, with refusals of its own': [
    ...['GET /telemetry/mcp', 'POST /telemetry/mcp', 'DELETE /telemetry/mcp'],
  ],
  'bytes that Slack signed': ['POST /api/slack/events'],
  'bytes that the host of a repository signed': ['POST /hooks/catalog'],
}

it('every route is an operation, or made by hand for a reason that is given here', () => {
  expect(Object.keys(routesByHand).sort()).toEqual(Object.values(BY_HAND).flat().sort())
})

it('no route is both, and none is declared twice', () => {
  const routes = operations.map(({ route }) => route)
  expect(routes.filter((route, i) => routes.indexOf(route) !== i)).toEqual([])
  const ids = operations.map(({ id }) => id)
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  const byHand = Object.keys(routesByHand)
  const patterns = routes.map((route) => route.replaceAll(/\{(\w+)\}/g, ':$1'))
  expect(patterns.filter((route) => byHand.includes(route))).toEqual([])
})

describe.each(operations.map((one) => [one.id, one] as const))('operation %s', (_id, one) => {
  it('has a scope, a role, an answer and a summary', () => {
    expect(['any', 'read', 'admin', 'findings', 'respond', 'person']).toContain(one.scope)
    expect(typeof one.role === 'function' || ['reader', 'wide', 'writer', 'network'].includes(one.role)).toBe(
      true,
    )
    expect(one.answer).toBeTruthy()
    expect(one.summary).toMatch(/^\p{Lu}.*[^.]$/u)
  })

  it('runs on the writer only where it writes', () => {
    const { method } = routeOf(one)
    if (method === 'GET') expect(['reader', 'wide', 'network']).toContain(one.role)
    // What a credential of scope read may write is a proposal, a conversation or a subscription of its own.
    if (one.role === 'writer' && one.scope === 'read')
      expect(one.id).toMatch(
        /^(propose|withdrawProposal|(save|delete)AskSession|(un)?subscribe(Project)?|(acknowledge|release)Firing|extendLease)$/,
      )
    if (one.merges) expect(one.recorded, 'what is merged is recorded').toBe(true)
  })
})

it('the table is light: its files import types, errors and each other, so that every thread can load it', () => {
  const allowed = /^(\.\/[\w-]+\.ts|\.\.\/errors\.ts|\.\.\/agents\/evals\/reports\.ts|node:(util|zlib))$/
  const heavy = projectFiles()
    .filter((file) => file.startsWith('engine/operations/'))
    .flatMap((file) =>
      [...textOf(file).matchAll(/^(?:import|export) (?!type)[^'\n]*(?:\{[^}]*\} )?from '([^']+)'/gm)]
        .map((match) => match[1]!)
        .filter((from) => !allowed.test(from))
        .map((from) => `${file}: ${from}`),
    )
  expect(heavy).toEqual([])
})

it('the API document has each, with its summary', () => {
  const { paths } = JSON.parse(
    readFileSync(new URL('../../api/http/openapi.json', import.meta.url), 'utf8'),
  ) as {
    paths: Record<string, Record<string, { operationId: string; summary: string; tags: string[] }>>
  }
  for (const one of operations) {
    const { method, path } = routeOf(one)
    expect(paths[path]?.[method.toLowerCase()], one.id).toMatchObject({
      operationId: one.id,
      summary: one.summary,
      tags: [one.tag],
    })
  }
})
