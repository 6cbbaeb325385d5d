/** A daemon with an incident as people are paged for it: a deploy, errors, a finding of a scripted model. */
import { expect, type Locator, type Page } from '@playwright/test'
import type { ScriptedModels } from './agents.ts'
import type { RunningDaemon } from './daemon.ts'

export const HEADLINE = 'Checkout fails on POST /orders since deploy v2.4.1'
export const NEXT = 'Roll back checkout to v2.4.0.'
const LABELS = [{ name: 'service', field: 'service', primary: true }]

export interface Scene {
  /** Sends events of app-logs. */
  logs: (body: unknown) => Promise<void>
  /** Fires the trigger for a service: five errors. */
  fail: (service: string) => Promise<void>
}

/** What a test sends to a daemon that is prepared. */
export async function sceneOf(daemon: RunningDaemon): Promise<Scene> {
  const { ingest_key } = await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/app-logs')
  const send = (body: unknown): Promise<void> => posted(daemon, `/ingest/${ingest_key}`, body)
  return {
    logs: send,
    fail: (service) =>
      send(
        Array.from({ length: 5 }, (_, i) => ({
          service,
          kind: 'error',
          msg: `POST /orders 503, number ${i + 1}`,
          at: new Date(Date.now() - 5_000 + i).toISOString(),
        })),
      ),
  }
}

async function posted(daemon: RunningDaemon, path: string, body?: unknown): Promise<void> {
  const answer = await daemon.call('POST', path, body)
  expect(answer.ok, await answer.clone().text()).toBe(true)
}

/** Sources, a trigger and, with models, an agent that concludes. */
export async function prepare(daemon: RunningDaemon, models?: ScriptedModels): Promise<Scene> {
  const config = { text_template: '{msg}', event_type_field: 'kind', event_time_field: 'at', labels: LABELS }
  await daemon.source('app-logs', config)
  const deploys = await daemon.source('deploys', config)
  const post = (path: string, body?: unknown): Promise<void> => posted(daemon, path, body)
  await post('/api/triggers', {
    name: 'checkout-errors',
    severity: 'critical',
    sources: ['app-logs'],
    filters: [{ field: 'event_type', op: 'eq', value: 'error' }],
    condition: { aggregate: 'count', predicate: '> 4', window: '10m' },
    cooldown: '1s',
  })
  if (models) {
    models.reply('model-look', (_request, n) =>
      n % 2 === 0
        ? { calls: [{ name: 'read', arguments: { selector: { service: 'checkout' }, window: '2h' } }] }
        : {
            calls: [
              {
                name: 'conclude',
                arguments: {
                  outcome: 'finding',
                  verdict: 'investigate',
                  headline: HEADLINE,
                  summary: 'Every order answers **503** since the deploy, see evt_1.',
                  next_step: NEXT,
                  claims: [
                    { text: 'a deploy came first', events: ['evt_1'], quote: 'deploy v2.4.1' },
                    { text: 'orders answer 503', events: ['evt_2'], number: 503 },
                  ],
                },
              },
            ],
          },
    )
    await post('/api/agents/builtin', {
      name: 'first-look',
      prompt: 'Say what is wrong.',
      model: 'model-look',
      trigger: 'checkout-errors',
      concludes: true,
      verdicts: [{ verdict: 'investigate', when: 'orders fail' }],
      budget_usd: 5,
    })
    await post('/api/agents/builtin/first-look/enable')
  }
  await post(deploys, {
    service: 'checkout',
    kind: 'deploy',
    msg: 'deploy v2.4.1 of checkout by mara',
    at: new Date(Date.now() - 60_000).toISOString(),
  })
  return sceneOf(daemon)
}

interface Listed {
  id: string
  number: number
  key: string
  state: string
  version: number
  headline: string
  firings: number
  acknowledged: { by: string } | null
}

/** All incidents that are there, once there are so many. */
export async function incidentsOf(daemon: RunningDaemon, many: number, state = 'active'): Promise<Listed[]> {
  let found: Listed[] = []
  await expect
    .poll(async () => {
      const answer = await daemon.ask<{ incidents: Listed[] }>('GET', `/api/incidents?state=${state}`)
      found = answer.incidents
      return found.length
    })
    .toBe(many)
  return found
}

/** The incident of an entity, once it is there. */
export async function incidentOf(daemon: RunningDaemon, key: string): Promise<Listed> {
  let found: Listed | undefined
  await expect
    .poll(async () => {
      const { incidents } = await daemon.ask<{ incidents: Listed[] }>('GET', '/api/incidents?state=active')
      found = incidents.find((incident) => incident.key === key)
      return found !== undefined
    })
    .toBe(true)
  return found!
}

/** Takes an act on all that are active, so that the next test of those that share a daemon finds what this one found. */
export async function actOnAll(daemon: RunningDaemon, action: 'handle' | 'reopen'): Promise<void> {
  const { incidents } = await daemon.ask<{ incidents: Listed[] }>(
    'GET',
    '/api/incidents?state=active&limit=100',
  )
  const ids = incidents.map(({ id }) => id)
  if (ids.length > 0) await posted(daemon, '/api/incidents/bulk', { ids, action })
}

/** Waits until the whole of it is on the screen, without scrolling; parts that come later move what is below them. */
export async function onScreen(page: Page, what: Locator, name: string): Promise<void> {
  const { width, height } = page.viewportSize()!
  await expect
    .poll(
      async () => {
        const box = await what.boundingBox()
        return (
          box !== null &&
          box.y >= 0 &&
          box.y + box.height <= height &&
          box.x >= 0 &&
          box.x + box.width <= width
        )
      },
      { message: `${name} is on the screen` },
    )
    .toBe(true)
}
