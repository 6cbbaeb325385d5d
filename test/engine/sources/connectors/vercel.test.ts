/** The vercel connector. Entries have the fields of Vercel's reference of log drains. */
import { describe, expect, it } from 'vitest'
import { validateConfig } from '../../../../engine/sources/connectors/index.ts'
import { vercel } from '../../../../engine/sources/connectors/vercel.ts'
import { prepared } from './reach.ts'

const REQUEST = {
  id: '1573817187330377061717300000',
  deploymentId: 'dpl_1',
  source: 'lambda',
  host: 'shop-abc.vercel.app',
  timestamp: Date.parse('2026-11-20T11:59:00Z'),
  projectId: 'prj_1',
  projectName: 'shop',
  environment: 'production',
  branch: 'main',
  level: 'info',
  proxy: {
    method: 'GET',
    host: 'shop.example.com',
    path: '/cart?item=1',
    statusCode: 200,
    region: 'sfo1',
    referer: 'https://shop.example.com/',
    pathType: 'func',
    vercelCache: 'MISS',
  },
}

const events = (entries: unknown[], config: Record<string, unknown> = {}) =>
  prepared(vercel, validateConfig('vercel', config), {
    items: entries.map((entry) => JSON.stringify(entry)),
    cursor: null,
  })

describe('an entry of a log drain', () => {
  it('without a message says the request and its answer, and has what it says as fields', () => {
    const names = vercel.provides.map(({ name }) => name)
    const labels = names.map((name) => ({ name, field: name, primary: name === 'project' }))
    const [event] = events([REQUEST], { labels })
    expect(event).toMatchObject({
      eventType: 'lambda',
      text: 'GET /cart?item=1 -> 200',
      ts: REQUEST.timestamp,
      hasEntity: true,
    })
    expect(Object.fromEntries(event!.strings)).toEqual({
      project: 'shop',
      environment: 'production',
      source: 'lambda',
      path: '/cart',
      host: 'shop-abc.vercel.app',
      deployment: 'dpl_1',
      branch: 'main',
      status_code: '200',
      url: '/cart?item=1',
      method: 'GET',
      referer: 'https://shop.example.com/',
      path_type: 'func',
      region: 'sfo1',
      cache: 'MISS',
    })
  })

  it('is on its project without any label, and what it does not say stays absent', () => {
    const { projectName: _name, proxy: _proxy, ...build } = REQUEST
    const [event] = events([{ ...build, source: 'build', message: 'Compiled\nin 3 s' }])
    expect(event).toMatchObject({ eventType: 'build', text: 'Compiled in 3 s', hasEntity: true })
    expect(event!.strings).toEqual([['project', 'prj_1']])
    const [bare] = events([{ message: 'x', type: 'stdout' }])
    expect(bare).toMatchObject({ eventType: 'stdout', hasEntity: false, strings: [], ts: null })
  })

  it('that crashed has no status, and one that is sent again is the same', () => {
    const labels = [{ name: 'status_code', field: 'status_code' }]
    const [crashed, again] = events([{ ...REQUEST, proxy: { ...REQUEST.proxy, statusCode: -1 } }, REQUEST], {
      labels,
    })
    expect(crashed).toMatchObject({ text: 'GET /cart?item=1', strings: [['project', 'shop']] })
    expect(crashed!.dedupeKey).toBe(again!.dedupeKey)
  })
})
