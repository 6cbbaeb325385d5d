import { describe, expect, it } from 'vitest'
import { describeUnread, environment } from '../../api/environment.ts'

describe('the environment table', () => {
  it('names no variable twice', () => {
    const names = environment.map((variable) => variable.name)
    expect(new Set(names).size).toBe(names.length)
  })

  it('says of a set variable that this version does not read, or does not know, that it has no effect', () => {
    const env = {
      SVC_PORT: '1',
      SVC_PROT: '1',
      SVC_DEMO_API: 'x',
      SVC_MCP_PORT: 'secret-value',
      SVC_TEST_BROWSER: 'x',
      SVC_LOGOUT_URL: ' ',
      HOME: '/x',
    }
    expect(describeUnread(env)).toEqual([
      'SVC_DEMO_API is set, but nothing in this version reads it',
      'SVC_PROT is set, but svc has no variable of that name',
    ])
  })
})
