/**
 * A daemon whose agents ask a scripted model server: no model answers, the test says what is answered.
 * Two agents in a chain: `triage` looks first and hands over to `digger` on the verdict investigate.
 */
import { expect } from '@playwright/test'
import type { ScriptedModels } from '../test/models/scripted-server.ts'
import { test as base, type RunningDaemon } from './daemon.ts'

export type { ScriptedModels }

/** Of a daemon: it asks these for every answer of a model. */
export const providerOf = ({ url }: ScriptedModels): Record<string, string> => ({
  PROVIDERA_BASE_URL: url,
  PROVIDERA_API_KEY: 'key-of-the-environment',
})

export const test = base.extend({
  env: async ({ models }, use) => use(providerOf(models)),
})

interface Run {
  id: string
  agent: string
  status: string
}

/** Wakes both, and waits until they have ended. @returns their runs, first to last */
export async function wakeChain(daemon: RunningDaemon, models: ScriptedModels): Promise<Run[]> {
  await trip(daemon, await prepareChain(daemon, models))
  return await ended(daemon, 2)
}

/** The runs of a chain that was woken once, first to last; what was practised since is not among them. */
export async function runsOf(daemon: RunningDaemon): Promise<Run[]> {
  return (await daemon.ask<{ runs: Run[] }>('GET', '/api/runs')).runs.reverse()
}

/** Repeats the first run of the chain as practice, and waits until the second has ended, too. @returns the repeated one */
export async function practise(daemon: RunningDaemon, { id, agent }: Run): Promise<Run> {
  const { runs } = await daemon.ask<{ runs: Run[] }>('GET', '/api/runs')
  await daemon.call('POST', `/api/runs/${id}/rerun`, { practice: true })
  return (await ended(daemon, runs.length + 2)).findLast((run) => run.agent === agent)!
}

/** Three errors of a service, which trip the trigger. @param url where the source takes events */
export async function trip(daemon: RunningDaemon, url: string, service = 'pay'): Promise<void> {
  for (const status of [200, 500, 502, 503])
    await daemon.call('POST', url, { service, status, msg: `${service} answered ${status}` })
}

/** Two agents and the trigger that wakes the first. @returns where its source takes events */
export async function prepareChain(daemon: RunningDaemon, models: ScriptedModels): Promise<string> {
  models.reply('model-triage', (_request, n) =>
    n % 2 === 0
      ? {
          text: 'I look at what pay did before.',
          calls: [{ name: 'read', arguments: { selector: { service: 'pay' }, window: '2h' } }],
          cost: 0.0021,
        }
      : {
          calls: [
            {
              name: 'conclude',
              arguments: {
                outcome: 'finding',
                verdict: 'investigate',
                headline: n === 1 ? 'pay fails on every order' : 'pay fails, said another way',
                summary: 'Orders fail with **500**: see evt_2.',
                next_step: 'Look at the last deploy of pay.',
                claims: [{ text: 'pay answered 500', events: ['evt_2'], number: 500 }],
              },
            },
          ],
          cost: 0.0034,
        },
  )
  models.reply('model-digger', (_request, n) =>
    n % 2 === 0
      ? { calls: [{ name: 'stats', arguments: { by: 'service' } }] }
      : {
          calls: [
            {
              name: 'conclude',
              arguments: {
                outcome: 'finding',
                headline: 'The deploy broke pay',
                summary: 'The deploy came before the first error.',
                claims: [
                  { text: 'pay answered 500', events: ['evt_2'], number: 500 },
                  { text: 'a deploy came first', events: ['evt_999'] },
                ],
              },
            },
          ],
        },
  )
  const url = await daemon.source('gateway', {
    text_template: '{msg}',
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  const made = [
    await daemon.call('POST', '/api/triggers', {
      name: 'gateway-errors',
      sources: ['gateway'],
      filters: [{ field: 'payload.status', op: 'gte', value: 500 }],
      condition: { aggregate: 'count', predicate: '> 2', window: '5m' },
    }),
    await daemon.call('POST', '/api/agents/builtin', {
      name: 'digger',
      prompt: 'Find the cause.',
      model: 'model-digger',
    }),
    await daemon.call('POST', '/api/agents/builtin', {
      name: 'triage',
      prompt: 'Say whether it is worth looking into.',
      model: 'model-triage',
      trigger: 'gateway-errors',
      concludes: true,
      verdicts: [{ verdict: 'investigate', when: 'orders fail' }, { verdict: 'ignore' }],
      handoffs: [{ verdict: 'investigate', agent: 'digger' }],
      budget_usd: 5,
    }),
    await daemon.call('POST', '/api/agents/builtin/triage/enable'),
  ]
  for (const answer of made) expect(answer.ok, await answer.clone().text()).toBe(true)
  return url
}

/** Waits until so many runs are there and all have ended. @returns them, first to last */
export async function ended(daemon: RunningDaemon, runs: number): Promise<Run[]> {
  let found: Run[] = []
  await expect
    .poll(async () => {
      found = (await daemon.ask<{ runs: Run[] }>('GET', '/api/runs')).runs.reverse()
      return found.filter(({ status }) => status !== 'queued' && status !== 'running').length
    })
    .toBe(runs)
  return found
}
