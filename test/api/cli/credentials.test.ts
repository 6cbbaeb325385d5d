import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ClientFlags, resolveTarget } from '../../../api/cli/credentials.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-credentials-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const resolve = (flags: ClientFlags = {}, env: Record<string, string> = {}) =>
  resolveTarget({ dataDir: home, ...flags }, env)
const saveLogin = (url = 'https://hosted.example') =>
  writeFileSync(join(home, 'login.json'), JSON.stringify({ url, key: 'login-key' }))
const saveRoot = () => writeFileSync(join(home, 'root_token'), 'root-token\n')
const everything = { SVCD_URL: 'http://env.example', SVC_AUTH_TOKEN: 'env-token' }

describe('the lookup of daemon and credential', () => {
  it('is the local instance without anything else', () => {
    expect(resolve()).toEqual({ url: 'http://127.0.0.1:8787', token: null })
  })

  it('finds the local root token and port', () => {
    saveRoot()
    expect(resolve({}, { SVC_PORT: '9000' })).toEqual({ url: 'http://127.0.0.1:9000', token: 'root-token' })
  })

  it('prefers the saved login to the local instance', () => {
    saveRoot()
    saveLogin()
    expect(resolve()).toEqual({ url: 'https://hosted.example', token: 'login-key' })
  })

  it('prefers the environment to the saved login', () => {
    saveLogin()
    expect(resolve({}, everything)).toEqual({ url: 'http://env.example', token: 'env-token' })
  })

  it('prefers flags to the environment', () => {
    expect(resolve({ svcd: 'http://flag.example/', token: 'flag-token' }, everything)).toEqual({
      url: 'http://flag.example',
      token: 'flag-token',
    })
  })

  it('never sends a stored token to another address', () => {
    saveRoot()
    saveLogin()
    expect(resolve({ svcd: 'https://other.example' }).token).toBeNull()
    expect(resolve({}, { SVCD_URL: 'https://127.0.0.1.other.example' }).token).toBeNull()
  })

  it('uses the root token for every loopback address', () => {
    saveRoot()
    for (const url of ['http://localhost:1', 'http://[::1]:1', 'http://127.0.0.2:1'])
      expect(resolve({ svcd: url }).token).toBe('root-token')
  })

  it('names a login file that cannot be used', () => {
    writeFileSync(join(home, 'login.json'), '{')
    expect(() => resolve()).toThrow(`${home}/login.json cannot be used`)
  })

  it.each([
    [{ svcd: 'nowhere' }, {}, '--svcd must be'],
    [{}, { SVCD_URL: 'nowhere' }, 'SVCD_URL must be'],
    [{ token: 'a b' }, {}, '--token must be'],
  ])('refuses %j %j', (flags, env, message) => {
    expect(() => resolve(flags, env)).toThrow(message)
  })
})
