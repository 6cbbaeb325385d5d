import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { guardOldDataFile, guardOldVariables } from '../../api/guards.ts'

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
