/** Many files changed as one: killed at each write, they are as before or as after once a command finishes it. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changeFiles, finishChanges } from '../../../api/cli/file-changes.ts'

class Killed extends Error {}

describe('files that are changed as one', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-files-'))
    for (const name of ['a.yaml', 'gone.yaml', 'z.yaml']) writeFileSync(join(folder, name), `old ${name}`)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const changes = () => [
    { path: join(folder, 'a.yaml'), before: 'old a.yaml', after: 'new a' },
    { path: join(folder, 'gone.yaml'), before: 'old gone.yaml', after: null },
    { path: join(folder, 'parts', 'made.yaml'), before: null, after: 'made' },
    { path: join(folder, 'z.yaml'), before: 'old z.yaml', after: 'new z' },
  ]
  const now = () => changes().map(({ path }) => (existsSync(path) ? readFileSync(path, 'utf8') : null))
  const BEFORE = ['old a.yaml', 'old gone.yaml', null, 'old z.yaml']
  const AFTER = ['new a', null, 'made', 'new z']
  /** Kills at a write. @returns whether it came to it */
  const killedAt = (n: number): boolean => {
    let steps = 0
    try {
      changeFiles(folder, changes(), () => {
        if (++steps === n) throw new Killed()
      })
      return false
    } catch (error) {
      if (!(error instanceof Killed)) throw error
      return true
    }
  }

  it('are all changed, and nothing is left beside them', () => {
    changeFiles(folder, changes())
    expect(now()).toEqual(AFTER)
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual([
      'a.yaml',
      'parts',
      join('parts', 'made.yaml'),
      'z.yaml',
    ])
    expect(finishChanges(folder)).toBe(false)
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('killed at write %i, are as before or as after', (n) => {
    expect(killedAt(n)).toBe(true)
    const isSaid = finishChanges(folder)
    expect(now()).toEqual(isSaid ? AFTER : BEFORE)
    expect(isSaid).toBe(n > 5)
    // What was begun anew ends as if nothing had happened.
    if (!isSaid) changeFiles(folder, changes())
    expect(now()).toEqual(AFTER)
  })

  it('come to ten writes', () => {
    expect(killedAt(11)).toBe(false)
  })

  it('are not finished over an edit that was made since', () => {
    killedAt(8)
    writeFileSync(join(folder, 'z.yaml'), 'edited')
    expect(() => finishChanges(folder)).toThrow('changed since a pull was cut off')
    expect(readFileSync(join(folder, 'z.yaml'), 'utf8')).toBe('edited')
  })

  it('keep their links, and who may read them', () => {
    mkdirSync(join(folder, 'shared'))
    const shared = join(folder, 'shared', 'a.yaml')
    renameSync(join(folder, 'a.yaml'), shared)
    symlinkSync(shared, join(folder, 'a.yaml'))
    chmodSync(shared, 0o600)
    changeFiles(folder, changes())
    expect(now()).toEqual(AFTER)
    expect(lstatSync(join(folder, 'a.yaml')).isSymbolicLink()).toBe(true)
    expect(readFileSync(shared, 'utf8')).toBe('new a')
    expect(statSync(shared).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(folder, 'shared'))).toEqual(['a.yaml'])
  })

  it('follow no link that lies where they are written beside their places', () => {
    const other = join(folder, 'other')
    writeFileSync(other, 'of somebody else')
    for (const name of ['a.yaml.pulled', '.svc-pull.json.pulled']) symlinkSync(other, join(folder, name))
    changeFiles(folder, changes())
    expect(now()).toEqual(AFTER)
    expect(readFileSync(other, 'utf8')).toBe('of somebody else')
    expect(lstatSync(join(folder, 'a.yaml')).isSymbolicLink()).toBe(false)
  })

  it('are not finished outside of the folder, or of its repository, which may have brought the journal', () => {
    const inner = join(folder, 'catalog')
    mkdirSync(inner)
    symlinkSync(folder, join(inner, 'up'))
    const hash = createHash('sha256').update('old z.yaml').digest('hex')
    for (const path of [join(folder, 'z.yaml'), join(inner, 'up', 'z.yaml')]) {
      writeFileSync(join(inner, '.svc-pull.json'), JSON.stringify([{ path, before: hash, after: null }]))
      expect(() => finishChanges(inner)).toThrow('outside of')
      expect(now()).toEqual(BEFORE)
    }
    mkdirSync(join(folder, '.git'))
    expect(finishChanges(inner)).toBe(true)
    expect(existsSync(join(folder, 'z.yaml'))).toBe(false)
  })

  it('are as they were where one of them cannot be written', () => {
    const blocked = [...changes(), { path: join(folder, 'a.yaml', 'below.yaml'), before: null, after: 'x' }]
    expect(() => changeFiles(folder, blocked)).toThrow('cannot write')
    expect(now()).toEqual(BEFORE)
    expect(existsSync(join(folder, '.svc-pull.json'))).toBe(false)
  })
})
