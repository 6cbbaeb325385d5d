import { describe, expect, it } from 'vitest'
import { describeUnread, environment, readVariable } from '../../api/environment.ts'

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
      'SVC_PROT is set, but svc has no variable of that name (did you mean SVC_PORT?)',
    ])
    const secrets = { SVC_SECRETS: 'DEPLOY_TOKEN', SVC_SECRET_GATEWAY: 'x', DEPLOY_TOKEN: 'x' }
    expect(describeUnread(secrets), 'read where a part refers to it').toEqual([])
    // What an option is called; a name of before 0.2.0 is like one that does something else.
    expect(describeUnread({ SVC_DATA_DIR: '/data', SVC_READ_ONLY: 'on' })).toEqual([
      'SVC_DATA_DIR is set, but svc has no variable of that name (did you mean SVC_HOME?)',
      'SVC_READ_ONLY is set, but svc has no variable of that name',
    ])
  })

  it('takes what Kubernetes says of a Service named svc for no port, and says so', () => {
    const env = {
      SVC_PORT: 'tcp://10.96.1.2:8787',
      SVC_PORT_8787_TCP: 'tcp://10.96.1.2:8787',
      SVC_PORT_8787_TCP_ADDR: '10.96.1.2',
      SVC_SERVICE_HOST: '10.96.1.2',
      SVC_SERVICE_PORT: '8787',
      SVC_MCP_PORT: 'tcp://10.96.1.3:8788',
      SVC_MCP_SERVICE_HOST: '10.96.1.3',
    }
    expect(readVariable(env, 'SVC_PORT')).toBeUndefined()
    expect(readVariable(env, 'SVC_MCP_PORT')).toBeUndefined()
    expect(readVariable({ SVC_PORT: '9000' }, 'SVC_PORT')).toBe('9000')
    expect(describeUnread(env)).toEqual([
      expect.stringMatching(/^SVC_MCP_PORT is .*Kubernetes sets it for a Service named svc-mcp, .*as unset/),
      expect.stringMatching(/^SVC_PORT is .*Kubernetes sets it for a Service named svc, .*as unset/),
    ])
  })
})
