import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memorySecrets, openSecrets } from '../../../engine/net/secrets.ts'

const AT = 'sources/7/signature_secret'

describe('a key file', () => {
  let folder = ''
  let file = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-secrets-'))
    file = join(folder, 'secret.key')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('is made on first use, for its owner alone, and leaves no other file behind', () => {
    openSecrets(file)
    expect(readdirSync(folder)).toEqual(['secret.key'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(Buffer.from(readFileSync(file, 'utf8'), 'base64')).toHaveLength(32)
  })

  it('opens after a restart what was sealed before', () => {
    const sealed = openSecrets(file).seal('hunter2 ünïcode', AT)
    expect(openSecrets(file).open(sealed, AT)).toBe('hunter2 ünïcode')
  })

  it('that holds no key, or cannot be read or made, stops the start and is not replaced', () => {
    const refused = expect.objectContaining({ name: 'StartError', exitCode: 78 })
    writeFileSync(file, 'short')
    expect(() => openSecrets(file)).toThrow(refused)
    expect(readFileSync(file, 'utf8')).toBe('short')
    expect(() => openSecrets(folder)).toThrow(refused)
    expect(() => openSecrets(join(folder, 'absent', 'secret.key'))).toThrow(refused)
  })

  it('is another one elsewhere: a copy of the data file alone gives nothing away', () => {
    const sealed = openSecrets(file).seal('hunter2', AT)
    rmSync(file)
    const elsewhere = openSecrets(file)
    expect(() => elsewhere.open(sealed, AT)).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: 'the secret at sources/7/signature_secret cannot be read here; enter it again',
      }),
    )
  })
})

describe('a sealed secret', () => {
  const secrets = memorySecrets()
  const sealed = secrets.seal('hunter2', AT)
  const bytes = Buffer.from(sealed.slice('enc:v1:'.length), 'base64url')
  const refused = /cannot be read here; enter it again$/

  it('is text that does not contain the secret, and differs each time', () => {
    expect(sealed).toMatch(/^enc:v1:[A-Za-z0-9_-]+$/)
    expect(bytes.includes('hunter2')).toBe(false)
    expect(secrets.seal('hunter2', AT)).not.toBe(sealed)
  })

  it('opens at its own place only', () => {
    expect(secrets.open(sealed, AT)).toBe('hunter2')
    expect(() => secrets.open(sealed, 'sources/8/signature_secret')).toThrow(refused)
    expect(() => secrets.open(sealed, 'sources/7/signature_secret_previous')).toThrow(refused)
  })

  it('does not open once any byte is changed or missing', () => {
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i]! ^= 1
      expect(() => secrets.open(`enc:v1:${changed.toString('base64url')}`, AT)).toThrow(refused)
    }
    for (let length = 0; length < bytes.length; length++)
      expect(() => secrets.open(`enc:v1:${bytes.subarray(0, length).toString('base64url')}`, AT)).toThrow(
        refused,
      )
  })

  it('is refused where it is no sealed secret at all, without being shown', () => {
    for (const text of ['', 'plain text', 'enc:v1:', 'enc:v2:AAAA'])
      expect(() => secrets.open(text, AT)).toThrow(
        'the secret at sources/7/signature_secret cannot be read here; enter it again',
      )
  })

  it('may be empty', () => {
    expect(secrets.open(secrets.seal('', AT), AT)).toBe('')
  })
})
