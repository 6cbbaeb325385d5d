import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { LoginGrants } from '../../../../engine/index.ts'

const verifier = 'v'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')
const ask = { challenge, state: 's'.repeat(43), port: 4711, machine: 'laptop', scopes: ['read' as const] }
const person = { id: 'env:auth', name: 'auth token (env)' }

const clock = { at: 0, now: () => clock.at }
let grants: LoginGrants
let code: string
beforeEach(() => {
  clock.at = 1_000
  grants = new LoginGrants(clock)
  code = grants.approve(ask, person).code
})
const redeem = (more: object = {}) => grants.redeem({ code, verifier, port: 4711, ...more })
const REFUSED = 'this login code is not good'

describe('a one-time code', () => {
  it('gives what the person approved, to the command that asked, once', () => {
    expect(redeem()).toEqual({ machine: 'laptop', scopes: ['read'], approver: person })
    expect(() => redeem()).toThrow(REFUSED)
  })

  it.each([
    ['another verifier', { verifier: 'w'.repeat(43) }],
    ['another port', { port: 4712 }],
    ['no port', { port: null }],
  ])('is refused with %s, and spent by the try', (_case, more) => {
    expect(() => redeem(more)).toThrow(REFUSED)
    expect(() => redeem()).toThrow(REFUSED)
  })

  it('is good for 60 seconds', () => {
    clock.at += 59_999
    expect(redeem().machine).toBe('laptop')
    code = grants.approve(ask, person).code
    clock.at += 60_000
    expect(() => redeem()).toThrow(REFUSED)
  })

  it('is refused where it is another one, and the right one still opens', () => {
    expect(() => redeem({ code: 'guessed' })).toThrow(REFUSED)
    expect(redeem().machine).toBe('laptop')
  })

  it('has 256 random bits', () => {
    expect(Buffer.from(code, 'base64url')).toHaveLength(32)
    expect(grants.approve(ask, person).code).not.toBe(code)
  })

  it('is not made where 100 wait, until those have expired', () => {
    for (let i = 1; i < 100; i++) grants.approve(ask, person)
    expect(() => grants.approve(ask, person)).toThrow('100 approved logins wait')
    clock.at += 60_000
    expect(grants.approve(ask, person).code).not.toBe('')
  })
})
