import { describe, expect, it } from 'vitest'
import { describeUnread, environment } from '../../api/environment.ts'

describe('the environment table', () => {
  it('names no variable twice', () => {
    const names = environment.map((variable) => variable.name)
    expect(new Set(names).size).toBe(names.length)
  })

  it('says of a set variable that svc does not know that it has no effect, and knows those of the demo stack', () => {
    const env = {
      SVC_PORT: '1',
      SVC_PROT: '1',
      SVC_DEMO_PROMETHEUS_URL: 'x',
      SVC_INGEST_TOKEN: 'secret-value',
      SVC_MCP_PORT: 'secret-value',
      SVC_TEST_BROWSER: 'x',
      SVC_LOGOUT_URL: ' ',
      HOME: '/x',
    }
    expect(describeUnread(env)).toEqual([
      'SVC_INGEST_TOKEN is set, but svc has no variable of that name',
      'SVC_PROT is set, but svc has no variable of that name',
    ])
  })
})
