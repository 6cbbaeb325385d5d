import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resolveRootToken } from '../../../../api/cli/daemon/root-token.ts'

describe('the root token', () => {
  let home: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-root-'))
  })
  afterEach(() => rmSync(home, { recursive: true }))

  it('is none in open mode and the given one where one is given, without a file', () => {
    expect(resolveRootToken({ mode: 'open' }, home)).toBeNull()
    expect(resolveRootToken({ mode: 'given', token: 't' }, home)).toBe('t')
    expect(existsSync(join(home, 'root_token'))).toBe(false)
  })

  it('is made once, kept for its owner alone, and found again', () => {
    const token = resolveRootToken({ mode: 'stored' }, home)
    expect(token).toMatch(/^svc_root_[A-Za-z0-9_-]{32}$/)
    const file = join(home, 'root_token')
    expect(readFileSync(file, 'utf8').trim()).toBe(token)
    chmodSync(file, 0o644)
    expect(resolveRootToken({ mode: 'stored' }, home)).toBe(token)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('is refused when the kept file is empty or broken', () => {
    writeFileSync(join(home, 'root_token'), '\n')
    expect(() => resolveRootToken({ mode: 'stored' }, home)).toThrow('is empty')
    writeFileSync(join(home, 'root_token'), 'two words')
    expect(() => resolveRootToken({ mode: 'stored' }, home)).toThrow('visible ASCII')
  })
})
