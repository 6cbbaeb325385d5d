/** The walk of issue 16, B3, as somebody writes it with a generated client: each is a module beside the client. */

const EXPECTED = `
export interface Walked {
  made: string
  trigger: number
  ingested: number
  texts: string[]
  keys: string[]
  sources: string[]
}
`

const SOURCE = `{
      name: 'gateway',
      connector: 'webhook',
      config: { labels: [{ name: 'order', field: 'order', primary: true }] },
    }`
const TRIGGER = `{
      name: 'declined',
      sources: ['gateway'],
      condition: { event: 'any' },
      cooldown: '1s',
      description: 'A card was declined',
    }`
const EVENTS =
  "[{ order: 'A-1001', message: 'card declined' }, { order: 'A-1002', message: 'card declined' }]"
const READ = "{ selector: { order: 'A-1001' }, window: '1h' }"

/** With the types of openapi-typescript and openapi-fetch. */
export const openapiFetchWalk = `
import createClient from 'openapi-fetch'
import type { paths } from './api.ts'
${EXPECTED}
function must<T>({ data, error }: { data?: T; error?: { detail: string } }): T {
  if (data === undefined) throw new Error(error?.detail ?? 'nothing was answered')
  return data
}

export async function walk(baseUrl: string, token: string): Promise<Walked> {
  const api = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } })
  const made = must(await api.POST('/api/sources', { body: ${SOURCE} }))
  const trigger = must(await api.POST('/api/triggers', { body: ${TRIGGER} }))
  const stored = must(await api.POST('/ingest/{key}', { params: { path: { key: made.ingest_key ?? '' } }, body: ${EVENTS} }))
  const read = must(await api.POST('/read', { body: ${READ} }))
  const { firings } = must(await api.GET('/api/firings', { params: { query: { trigger: 'declined', state: 'fired' } } }))
  const sources = must(await api.GET('/api/sources'))
  return {
    made: made.name,
    trigger: trigger.version ?? 0,
    ingested: stored.ingested,
    texts: read.rows.map(({ source }) => source),
    keys: firings.map(({ key }) => key).sort(),
    sources: sources.map(({ name }) => name),
  }
}
`

/** With the client of @hey-api/openapi-ts. */
export const heyApiWalk = `
import { client } from './client/client.gen.ts'
import { createSource, createTrigger, ingest, listFirings, listSources, read } from './client/sdk.gen.ts'
${EXPECTED}
export async function walk(baseUrl: string, token: string): Promise<Walked> {
  client.setConfig({ baseUrl, auth: () => token })
  const made = await createSource({ throwOnError: true, body: ${SOURCE} })
  const trigger = await createTrigger({ throwOnError: true, body: ${TRIGGER} })
  const stored = await ingest({ throwOnError: true, path: { key: made.data.ingest_key ?? '' }, body: ${EVENTS} })
  const timeline = await read({ throwOnError: true, body: ${READ} })
  const fired = await listFirings({ throwOnError: true, query: { trigger: 'declined', state: 'fired' } })
  const sources = await listSources({ throwOnError: true })
  return {
    made: made.data.name,
    trigger: trigger.data.version ?? 0,
    ingested: stored.data.ingested,
    texts: timeline.data.rows.map(({ source }) => source),
    keys: fired.data.firings.map(({ key }) => key).sort(),
    sources: sources.data.map(({ name }) => name),
  }
}
`
