import { describe, expect, it } from 'vitest'
import { detectTemplate, type Look, readTemplates } from '../../../../engine/declared/projects/templating.ts'
import { check } from '../../../../schemas/index.ts'
import { templateFrom } from './template-folder.ts'

const file = templateFrom(`key: watch
title: Watch
description: Looks around.
params:
  type: object
  properties:
    url: { type: string, default: 'http://localhost:9090' }
    region: { type: string, x-env: WATCH_REGION }
    token: { type: string, x-secret: true, x-env: WATCH_TOKEN }
    source: { type: string }
    host: { type: string }
detect:
  - { from: http, param: url, url: '{{ url }}/ready', found: '{{ url }} is up.', missing: 'Nothing at {{ url }}.' }
  - { from: source, param: source, connector: memory }
  - { from: source, param: host, connector: webhook, field: host, found: A host is known. }
  - { from: env, param: token, env: WATCH_TOKEN, found: A token is set. }
objects:
  - { kind: agent, key: one, name: one, spec: { prompt: Look. } }
`)

/** Looks at nothing but what is given; `asked` are the addresses it was asked for. */
function lookAt(given: Partial<Omit<Look, 'http'>> & { up?: string[] }): Look & { asked: string[] } {
  const asked: string[] = []
  return {
    env: given.env ?? {},
    sources: given.sources ?? (() => []),
    http: async (url) => {
      asked.push(url)
      return (given.up ?? []).includes(url)
    },
    asked,
  }
}

describe('detecting', () => {
  it('tells what is missing, in the order of the file', async () => {
    const result = await detectTemplate(file, lookAt({}))
    expect(result).toEqual({
      params: {},
      found: [],
      missing: [
        'Nothing at http://localhost:9090.',
        'There is no memory source.',
        'There is no webhook source.',
        'WATCH_TOKEN is not set.',
      ],
      notes: [],
    })
  })

  it('fills parameters from the environment, from sources and from addresses that answer', async () => {
    const sources = () => [
      { name: 'notes', connector: 'memory', config: {} },
      { name: 'in', connector: 'webhook', config: { host: 'shop.example' } },
    ]
    const look = lookAt({ env: { WATCH_REGION: 'eu' }, sources, up: ['http://localhost:9090/ready'] })
    expect(await detectTemplate(file, look)).toEqual({
      params: { url: 'http://localhost:9090', region: 'eu', source: 'notes', host: 'shop.example' },
      found: ['http://localhost:9090 is up.', 'A memory source is there.', 'A host is known.'],
      missing: ['WATCH_TOKEN is not set.'],
      notes: [],
    })
  })

  it('never returns a secret, only that it is there', async () => {
    const result = await detectTemplate(file, lookAt({ env: { WATCH_TOKEN: 'hush' } }))
    expect(result.found).toEqual(['A token is set.'])
    expect(JSON.stringify(result)).not.toContain('hush')
  })

  it('asks the address that the environment names, and says that a demo is made up', async () => {
    const env = {
      SVC_DEMO_PROMETHEUS_URL: 'https://prom.example',
      SVC_DEMO_API_SERVER_URL: 'https://api.example',
    }
    const look = lookAt({ env, up: ['https://prom.example/-/ready'] })
    const result = await detectTemplate(readTemplates().get('ai_sre_demo')!, look)
    expect(look.asked).toEqual(['https://prom.example/-/ready', 'https://api.example/health'])
    expect(check('detect-result.json', result)).toBeNull()
    expect(result).toMatchObject({
      params: { prometheus_url: 'https://prom.example' },
      missing: ['No API server answers at https://api.example; start the demo stack.'],
      notes: ['This template shows made-up data of a demo.'],
    })
  })
})
