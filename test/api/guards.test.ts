import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../api/config-values.ts'
import {
  guardBlankToken,
  guardOldDataFile,
  guardOldVariables,
  guardOpenStart,
  guardSshKey,
} from '../../api/guards.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-guards-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const config = (home: string, isDefaultHome: boolean) => ({
  home,
  isDefaultHome,
  dataFile: join(home, 'svc.db'),
})

describe('the startup guards', () => {
  it('let an environment without old names pass', () => {
    expect(() => guardOldVariables({ SVC_PORT: '1', MY_NAVFLOW_X: '1' })).not.toThrow()
  })

  it('refuse an old name even when its value is blank', () => {
    expect(() => guardOldVariables({ NAVFLOW_PORT: '' })).toThrow('NAVFLOW_PORT -> SVC_PORT')
  })

  it.each([
    ['NAVFLOW_AUTH_TOKEN', 'NAVFLOW_AUTH_TOKEN -> SVC_AUTH_TOKEN'],
    ['NAVFLOW_SEED_USECASE', 'NAVFLOW_SEED_USECASE -> SVC_SEED_PROJECT'],
    ['NAVFLOW_PROVIDERA_BASE', 'NAVFLOW_PROVIDERA_BASE -> PROVIDERA_BASE_URL'],
    ['NAVFLOW_PLATFORM_PROVIDER_KEY', 'NAVFLOW_PLATFORM_PROVIDER_KEY -> SVC_PLATFORM_PROVIDER_KEY'],
    ['NAVFLOWD_URL', 'NAVFLOWD_URL -> SVCD_URL'],
    ['NAVFLOW_BANANA', 'NAVFLOW_BANANA: svc has no SVC_BANANA; remove it'],
  ])('know the rename of %s', (name, line) => {
    expect(() => guardOldVariables({ [name]: 'secret-value' })).toThrow(`  ${line}`)
    expect(() => guardOldVariables({ [name]: 'secret-value' })).not.toThrow('secret-value')
  })

  it.each([
    ['NAVFLOW_INGEST_TOKEN', /is gone, not renamed \(the ingest token\).*scope ingest/],
    ['NAVFLOW_READ_ONLY', /is gone, not renamed \(the read-only mode\).*scope read/],
    ['NAVFLOW_READONLY', /is gone, not renamed \(the read-only mode\)/],
    ['NAVFLOW_MODEL_KEY', /is gone, not renamed \(the key of the model provider\).*PROVIDERA_API_KEY/],
  ])('say that %s is gone rather than renamed, and what replaces it', (name, line) => {
    expect(() => guardOldVariables({ [name]: 'x' })).toThrow(line)
    expect(() => guardOldVariables({ [name]: 'x' })).not.toThrow('->')
  })

  it('refuse a key of the repository that is no file', () => {
    const at = (sshKey: string | null) => () =>
      guardSshKey({
        repository: null,
        repositoryHome: { folder, environment: null, pushSecret: null, sshKey, instance: 'test' },
      })
    const key = join(folder, 'id_ed25519')
    expect(at(key)).toThrow(ConfigError)
    expect(at(key)).toThrow(`SVC_CATALOG_REPO_SSH_KEY must name a file: ${key} does not exist`)
    expect(at(folder)).toThrow(`SVC_CATALOG_REPO_SSH_KEY must name a file: ${folder} is none`)
    writeFileSync(key, '')
    expect(at(key)).not.toThrow()
    expect(at(`${key}/x`)).toThrow('does not exist')
    expect(at(null)).not.toThrow()
  })

  it.each(['SVC_INGEST_TOKEN', 'SVC_READ_ONLY', 'SVC_READONLY'])(
    'refuse to start open where %s was made of an old name, and let a secured start pass',
    (name) => {
      expect(() => guardOpenStart({ [name]: 'secret-value' }, { mode: 'open' })).toThrow(
        /would start svc open.*\n {2}SVC_.* set SVC_AUTH_TOKEN/,
      )
      expect(() => guardOpenStart({ [name]: 'secret-value' }, { mode: 'open' })).not.toThrow('secret-value')
      expect(() => guardOpenStart({ [name]: 'x' }, { mode: 'stored' })).not.toThrow()
      expect(() => guardOpenStart({ [name]: ' ' }, { mode: 'open' })).not.toThrow()
    },
  )

  it('let a start be open where nothing restricted access', () => {
    expect(() => guardOpenStart({ SVC_PORT: '1', SVC_MODEL_KEY: 'x' }, { mode: 'open' })).not.toThrow()
  })

  it.each(['', '  '])('refuse to start open to others with the blank token %j', (SVC_AUTH_TOKEN) => {
    const open = { auth: { mode: 'open' }, host: '0.0.0.0' } as const
    expect(() => guardBlankToken({ SVC_AUTH_TOKEN }, open)).toThrow(
      'SVC_AUTH_TOKEN is blank, and would start svc open, without any login, on 0.0.0.0',
    )
    expect(() => guardBlankToken({}, open)).not.toThrow()
    expect(() => guardBlankToken({ SVC_AUTH_TOKEN }, { ...open, auth: { mode: 'stored' } })).not.toThrow()
    for (const host of ['127.0.0.1', 'localhost', '::1'])
      expect(() => guardBlankToken({ SVC_AUTH_TOKEN }, { ...open, host })).not.toThrow()
  })

  it('print the move of an old data file in the data folder', () => {
    writeFileSync(join(folder, 'navflow.db'), '')
    expect(() => guardOldDataFile(config(folder, false))).toThrow(
      `\n  mv ${folder}/navflow.db ${folder}/svc.db`,
    )
  })

  it('let an old data file be where there is a new one', () => {
    writeFileSync(join(folder, 'navflow.db'), '')
    writeFileSync(join(folder, 'svc.db'), '')
    expect(() => guardOldDataFile(config(folder, false))).not.toThrow()
  })

  it('look into the old data home when the data home is the default one, and create nothing', () => {
    mkdirSync(join(folder, '.navflow'))
    writeFileSync(join(folder, '.navflow', 'navflow.db'), '')
    const home = join(folder, '.svc')
    expect(() => guardOldDataFile(config(home, true))).toThrow(
      `mkdir -p ${home} && mv ${folder}/.navflow/navflow.db ${home}/svc.db`,
    )
    expect(existsSync(home)).toBe(false)
    expect(() => guardOldDataFile(config(home, false))).not.toThrow()
  })

  it('quote a path for the shell', () => {
    const spaced = join(folder, "Ann's data")
    mkdirSync(spaced)
    writeFileSync(join(spaced, 'navflow.db'), '')
    expect(() => guardOldDataFile(config(spaced, false))).toThrow(`mv '${folder}/Ann'\\''s data/navflow.db'`)
  })
})
