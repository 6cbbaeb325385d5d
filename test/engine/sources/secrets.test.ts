import { beforeEach, describe, expect, it } from 'vitest'
import { memorySecrets } from '../../../engine/net/secrets.ts'
import { ME } from '../open-test-store.ts'
import { MASK, openSources } from './sources-harness.ts'

const signed = (more: Record<string, unknown> = {}) => ({
  config: { signature_scheme: 'github', ...more },
})

describe("a source's secrets", () => {
  let s: ReturnType<typeof openSources>
  const secrets = () => s.sources.requireByName('app').signature?.secrets

  beforeEach(() => {
    s = openSources()
    s.create('app', signed({ signature_secret: 'hunter2', signature_secret_previous: 'hunter1' }))
  })

  it('are sealed in the row, open for ingest, and masked wherever they leave', () => {
    expect(s.stored()).not.toMatch(/hunter/)
    expect(secrets()).toEqual(['hunter2', 'hunter1'])
    expect(s.sources.get('app').config).toEqual({
      signature_scheme: 'github',
      signature_secret: MASK,
      signature_secret_previous: MASK,
    })
    expect(JSON.stringify(s.sources.list())).not.toMatch(/hunter|enc:v1/)
    expect(s.sources.get('app').signed).toBe(true)
    expect(s.sources.routes()).toEqual([
      expect.objectContaining({ source: 'app', signed: true, wantsHeaders: true }),
    ])
  })

  it('are kept by an update that omits or masks them, cleared by "" and replaced by a value', () => {
    s.update('app', signed({ signature_secret: MASK }))
    expect(secrets()).toEqual(['hunter2', 'hunter1'])
    s.update('app', signed({ signature_secret: 'hunter3', signature_secret_previous: '' }))
    expect(secrets()).toEqual(['hunter3'])
    expect(s.sources.get('app').config).toEqual({ signature_scheme: 'github', signature_secret: MASK })
    s.update('app', signed({ signature_secret: '', signature_secret_previous: MASK }))
    expect(secrets()).toEqual([])
  })

  it('survive a restart', () => {
    expect(s.reopen().requireByName('app').signature?.secrets).toEqual(['hunter2', 'hunter1'])
  })

  it('do not open in another row', () => {
    s.create('other', signed({ signature_secret: 'other' }))
    s.store.db.exec(
      "UPDATE sources SET config = (SELECT config FROM sources WHERE name = 'app') WHERE name = 'other'",
    )
    expect(s.reopen().requireByName('other').signature?.secrets).toEqual([])
  })

  it('are not accepted by the previous one alone', () => {
    s.update('app', signed({ signature_secret: '' }))
    expect(secrets()).toEqual([])
    expect(s.sources.get('app').health).toMatchObject({
      status: 'error',
      reason: expect.stringContaining('has no signing secret, so it refuses everything'),
      last_error: expect.stringContaining('has no signing secret'),
    })
  })

  describe('sealed with a key file that is gone', () => {
    beforeEach(() => {
      const sources = s.reopen(memorySecrets())
      s = {
        ...s,
        sources,
        update: (name, body) => sources.update(name, { name, connector: 'webhook', ...body }, ME),
      }
    })

    it('make their source refuse everything and say why, without stopping the others', () => {
      expect(secrets()).toEqual([])
      expect(s.sources.get('app').health).toMatchObject({
        status: 'error',
        reason: 'its signing secret cannot be read here, so it refuses everything; enter the secret again',
      })
      expect(s.sources.get('app').config.signature_secret).toBe(MASK)
    })

    it('are not lost by an update that would keep them: it asks for them', () => {
      expect(() => s.update('app', signed({ signature_secret: MASK }))).toThrow(
        expect.objectContaining({
          code: 'invalid',
          message: 'config.signature_secret cannot be read here; enter it again, or clear it',
        }),
      )
      expect(s.stored()).toContain('enc:v1:')
    })

    it('can be entered again', () => {
      s.update('app', signed({ signature_secret: 'hunter4', signature_secret_previous: '' }))
      expect(secrets()).toEqual(['hunter4'])
      expect(s.sources.get('app').health.status).toBe('push')
    })

    it('go with a source that is deleted', () => {
      s.sources.remove('app', { cascade: false, purgeEvents: false }, ME)
      expect(s.stored()).not.toContain('enc:v1:')
    })
  })
})
